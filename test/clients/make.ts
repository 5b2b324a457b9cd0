import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { delimiter } from 'node:path';
import { type Outcome, run } from './command.js';
import type { Client } from './generators.js';
import { type Language, openapiGenerator, others, sources, workshop } from './languages.js';

/** Copies what is committed for a language to where its clients are made, without what was generated there before. */
export async function prepare(language: Language, clients: readonly Client[]): Promise<void> {
  await language.fetch();
  for (const { name } of clients) await rm(workshop(language.name, name), { recursive: true, force: true });
  if (language !== others) await cp(sources(language.name), workshop(language.name), { recursive: true });
}

const folderOf = ({ language, name }: Client) => workshop(language.name, name);

const placeOf = (client: Client, variables: NodeJS.ProcessEnv = {}) => ({
  cwd: folderOf(client),
  env: {
    ...(client.env ?? client.language.env),
    PATH: [...client.language.programs, process.env.PATH].join(delimiter),
    ...variables,
  },
});

/** Generates a client from a document. */
export async function generate(client: Client, document: string): Promise<Outcome> {
  const { cwd, env } = placeOf(client);
  await mkdir(`${cwd}/client`, { recursive: true });
  await writeFile(`${cwd}/openapi.yaml`, document);
  const [program = '', ...args] = client.command.split(' ');
  const words = program === 'openapi-generator' ? await openapiGenerator() : [program];
  return run([...words, ...args], { cwd, env });
}

/** Compiles it together with the scenario; the first command that fails is the last. */
export async function compile(client: Client): Promise<Outcome> {
  const outcome: Outcome = { ok: true, output: '', seconds: 0 };
  for (const command of client.compile ?? client.language.compile) {
    const { ok, output, seconds } = await run(command, placeOf(client));
    outcome.output += output;
    outcome.seconds += seconds;
    if (!ok) return { ...outcome, ok };
  }
  return outcome;
}

/** What the scenario prints, one line for each step that has gone well. */
const STEPS = [
  'register',
  'log in',
  'upload a picture',
  'post with an image',
  'befriend',
  'go private',
  'like',
  'page through the feed',
  'download images',
  'read the problems of a 400',
  'be refused',
  'delete the accounts',
];

/** Plays the scenario. It has gone well only if every step has said so. */
export async function play(client: Client, variables: NodeJS.ProcessEnv): Promise<Outcome> {
  const outcome = await run(client.language.play, placeOf(client, variables));
  const printed = outcome.output.split('\n').map((line) => line.replaceAll('\u001b[0m', ''));
  const done = STEPS.filter((step) => printed.includes(step));
  return { ...outcome, ok: outcome.ok && done.length === STEPS.length };
}
