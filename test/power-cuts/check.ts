import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readConfig } from '../../handlers/config/index.js';
import { createLogger } from '../../handlers/config/logger.js';
import { startService } from '../../handlers/service.js';
import { HIGH_RATE_LIMITS } from '../support/processes.js';
import { drainOutbox } from '../support/store-contents.js';
import { findDifferences } from '../support/store-fixtures.js';
import { registerWith } from '../support/users.js';
import { createThrowingSender, type Expected, responseTo } from './facts.js';

/*
 * Starts a service on the directory that a power cut left, and writes the faults that it finds to a file there. It is a process
 * of its own, because a bad state of the disk may crash or block it.
 */

const [directory = ''] = process.argv.slice(2);
const expected: Expected[] = JSON.parse(await readFile(join(directory, 'expected.json'), 'utf8'));
const config = readConfig({ ...HIGH_RATE_LIMITS, PORT: '0', OPS_PORT: '0', DATA_DIR: join(directory, 'data') });
const service = await startService(config, createLogger({ ...config, logLevel: 'warn' }));
const send = createThrowingSender(service.url);
const faults: string[] = [];

await drainOutbox(service.stores);
for (const [title, keys] of Object.entries(await findDifferences(service.stores)))
  faults.push(`verify: ${title}: ${keys.length}, such as ${keys[0]}`);

for (const { read, allowed } of expected) {
  const response = await responseTo(send, read);
  if (!allowed.includes(response)) faults.push(`GET ${read.path}: ${response}, not ${allowed.join(' or ')}`);
}

// New data can be written and read, which would fail if an id were reused.
const { token } = await registerWith(send);
const { body } = await send('POST', '/posts/create', { token, form: { title: 'New', text: 'New' } });
await send('POST', `/posts/like?id=${body.id}`, { token });
const { body: post } = await send('GET', `/posts/${body.id}`, { token });
if (post.title !== 'New' || post.like_count !== 1) faults.push(`a new post: ${JSON.stringify(post)}`);

await service.stop();
await writeFile(join(directory, 'faults.json'), JSON.stringify(faults));
process.exit();
