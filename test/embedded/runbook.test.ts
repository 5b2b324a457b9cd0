import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { samples } from '../../scripts/contract-test/client/index.js';
import { createSender } from '../support/http.js';
import { MODERATED, moderate } from '../support/moderation.js';
import { createOperator, createStepRunner, remainingCommands } from '../support/runbook.js';
import { picture } from '../support/service.js';
import { freshDataDirectory, onServices, temporaryDirectory } from '../support/stores.js';
import { registerUser } from '../support/users.js';

const SECTIONS = [
  'Runbook',
  'Back up and restore embedded stores',
  'Move from embedded stores to servers',
  'Check consistency',
  'Service down',
  'High error rate',
  'Slow responses',
  'Password hashing overloaded',
  'Disk nearly full',
  'Image storage quota refusals',
  'Certificate expires',
  'Moderation',
];

t.test('an operator of embedded stores', { skip: onServices && 'applies only to embedded stores' }, async (outer) => {
  const step = createStepRunner(outer);
  const directory = await temporaryDirectory(outer);
  const restored = join(directory, 'restored');
  const moved = join(directory, 'moved');
  const logFile = join(directory, 'log');
  const newFile = join(directory, 'new.env');
  const dataDir = await freshDataDirectory(outer);
  const operator = await createOperator(
    outer,
    { DATA_DIR: dataDir },
    {
      ...{ FILE: join(directory, 'backup.tar'), NEW_DIRECTORY: restored, LOG_FILE: logFile, NEW_FILE: newFile },
      ...{ DIRECTORY: dataDir, '/etc/social-posting': directory },
    },
  );
  await writeFile(join(directory, 'production.env'), 'ACCOUNT_STORAGE_MAX_BYTES=1000000\n');
  const send = createSender(outer, operator.url);
  let token = '';
  let login: () => Promise<string>;
  const readImage = async () => {
    const { body } = await send('GET', '/posts/me', { token });
    return (await send('GET', body[0].image, { token })).bytes;
  };

  await step('starts, looks at alerts and backs up', async (t) => {
    const service = await operator.start();
    await operator.open('Runbook').run('OPERATIONS');
    ({ token, login } = await registerUser(t, operator.url));
    const form = { title: 'T', text: 'T', image: picture() };
    t.equal((await send('POST', '/posts/create', { token, form })).status, 201);

    const down = operator.open('Service down');
    t.match(await down.run('npm run doctor'), /\S/);
    t.same(JSON.parse(await down.run('/livez')), { status: 'ok' });
    t.match(await operator.open('Slow responses').run('/metrics'), /^postgres_pool_waiting\S* \d+$/m);
    t.match(await operator.open('Password hashing overloaded').run('/metrics'), /event="login_succeeded"\} 1$/m);
    t.match(await operator.open('Image storage quota refusals').run('/metrics'), 'quota_refusals_total');
    t.match(await operator.open('Certificate expires').run('openssl'), /^notAfter=.* 2126 GMT$/m);
    t.match(await operator.open('Disk nearly full').run('df -h'), join(dataDir, 'postgres'));

    await operator.open('Back up and restore embedded stores').run('npm run backup');
    await service.stop();
    await writeFile(logFile, `${service.output()}{"level":50,"reqId":"r","msg":"service unavailable"}\n`);
    t.match(await operator.open('High error rate').run('grep'), '"reqId":"r"');
  });

  await step('restores, and users are still logged in', async (t) => {
    const procedure = operator.open('Back up and restore embedded stores');
    await rm(join(directory, 'backup.tar'));
    await procedure.run('npm run backup');
    t.match(await procedure.run('npm run restore'), 'The stores agree.');
    const service = await procedure.start('npm start');
    t.ok((await readImage()).equals(samples.png));
    await service.stop();
  });

  await step('acts on reports and requests', async (t) => {
    const service = await operator.start(`${MODERATED} npm start`);
    await moderate(t, operator, service);
    token = await login();
    await service.stop();
  });

  await step('checks consistency and moves the stores, and users are still logged in', async (t) => {
    t.match(await operator.open('Check consistency').run('--repair'), 'The stores agree.');
    await mkdir(moved);
    const keys = (await operator.run(`cat ${join(dataDir, 'token-keys')}`)).trim();
    await writeFile(newFile, `DATA_DIR='${moved}'\nTOKEN_KEYS='${keys}'\n`);
    t.match(await operator.open('Move from embedded stores to servers').run('npm run move'), 'Moved and compared.');
    const service = await operator.start(`unset DATA_DIR; npm start -- --env-file ${newFile}`);
    t.ok((await readImage()).equals(samples.png));
    await service.stop();
  });

  outer.same(remainingCommands(SECTIONS), [], 'every command was run');
});
