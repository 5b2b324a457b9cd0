import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { delimiter } from 'node:path';
import { type Outcome, run } from './command.js';
import type { Client } from './generators.js';
import { installOpenapiGenerator, type Language, others, sources, workingCopy } from './languages.js';

/** Installs the dependencies of a language, deletes earlier generated clients, and copies the committed files. */
export async function prepare(language: Language, clients: readonly Client[]): Promise<void> {
  await language.install();
  for (const { name } of clients) await rm(workingCopy(language.name, name), { recursive: true, force: true });
  if (language !== others) await cp(sources(language.name), workingCopy(language.name), { recursive: true });
}

const folderOf = ({ language, name }: Client) => workingCopy(language.name, name);

const runOptions = (client: Client, variables: NodeJS.ProcessEnv = {}) => ({
  cwd: folderOf(client),
  env: {
    ...(client.env ?? client.language.env),
    PATH: [...client.language.programs, process.env.PATH].join(delimiter),
    ...variables,
  },
});

/** The types of the contract. `npm run generate -- --check` compares them with it. */
const TYPES = 'generated/types.ts';

/** Generates a client from an OpenAPI document, or copies the types that it needs. */
export async function generate(client: Client, document: string): Promise<Outcome> {
  const { cwd, env } = runOptions(client);
  if (client.command === undefined) {
    await cp(TYPES, `${cwd}/types.ts`);
    return { ok: true, output: '', seconds: 0 };
  }
  await mkdir(`${cwd}/client`, { recursive: true });
  await writeFile(`${cwd}/openapi.yaml`, document);
  const [program = '', ...args] = client.command.split(' ');
  const generator = program === 'openapi-generator' ? await installOpenapiGenerator() : [program];
  return run([...generator, ...args], { cwd, env });
}

/** Compiles a client together with the scenario. Stops at the first command that fails. */
export async function compile(client: Client): Promise<Outcome> {
  const outcome: Outcome = { ok: true, output: '', seconds: 0 };
  for (const command of client.compile ?? client.language.compile) {
    const { ok, output, seconds } = await run(command, runOptions(client));
    outcome.output += output;
    outcome.seconds += seconds;
    if (!ok) return { ...outcome, ok };
  }
  return outcome;
}

/** The lines that the scenario prints: the names of its steps. */
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

/** Runs the scenario. It succeeds only if every step has printed its line. */
export async function runScenario(client: Client, variables: NodeJS.ProcessEnv): Promise<Outcome> {
  const outcome = await run(client.language.scenarioCommand, runOptions(client, variables));
  // Maven may reset the color of the terminal at the start of a line.
  const lines = outcome.output.split('\n').map((line) => line.replaceAll('\u001b[0m', ''));
  const printedSteps = STEPS.filter((step) => lines.includes(step));
  return { ...outcome, ok: outcome.ok && printedSteps.length === STEPS.length };
}
