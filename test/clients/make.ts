import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { delimiter } from 'node:path';
import { run } from './command.js';
import type { GeneratedClient } from './generators.js';
import { installOpenapiGenerator, type Language, others, sources, workingCopy } from './languages.js';

/** Installs the dependencies of a language, deletes earlier generated clients, and copies the committed files. */
export async function prepare(language: Language, clients: readonly GeneratedClient[]): Promise<void> {
  await language.install?.();
  for (const { name } of clients) await rm(workingCopy(language.name, name), { recursive: true, force: true });
  if (language !== others) await cp(sources(language.name), workingCopy(language.name), { recursive: true });
}

const runOptions = ({ language, name, env }: GeneratedClient, variables: NodeJS.ProcessEnv = {}) => ({
  cwd: workingCopy(language.name, name),
  env: {
    ...(env ?? language.env),
    PATH: [...(language.programs ?? []), process.env.PATH].join(delimiter),
    ...variables,
  },
});

/** Generates a client from an OpenAPI document, or copies the types that it needs and the example of the README. */
export async function generate(client: GeneratedClient, document: string): Promise<void> {
  const { cwd, env } = runOptions(client);
  if (client.command === undefined) {
    await cp('generated/types.ts', `${cwd}/types.ts`);
    const [, example = ''] = /^```ts\n(.*?)^```$/ms.exec(await readFile(sources('README.md'), 'utf8')) ?? [];
    await writeFile(`${cwd}/example.ts`, example);
    return;
  }
  await mkdir(`${cwd}/client`, { recursive: true });
  await writeFile(`${cwd}/openapi.yaml`, document);
  const [program = '', ...args] = client.command.split(' ');
  const generator = program === 'openapi-generator' ? await installOpenapiGenerator() : [program];
  await run([...generator, ...args], { cwd, env });
}

/** Compiles a client together with the scenario. */
export async function compile(client: GeneratedClient): Promise<void> {
  for (const command of client.compile ?? client.language.compile ?? []) await run(command, runOptions(client));
}

/** The lines that the scenario prints: the names of its steps. */
const STEPS = [
  'register',
  'log in',
  'post with an image',
  'befriend',
  'go private',
  'page through the feed',
  'download an image',
  'read the problems of a 400',
  'be refused',
  'delete the accounts',
];

/** Runs the scenario, if the language has one. Returns the steps whose lines it has not printed. */
export async function runScenario(client: GeneratedClient, variables: NodeJS.ProcessEnv): Promise<string[]> {
  const { scenarioCommand } = client.language;
  if (!scenarioCommand || client.isRun === false) return [];
  const output = await run(scenarioCommand, runOptions(client, variables));
  // Maven may reset the color of the terminal at the start of a line.
  const lines = output.split('\n').map((line) => line.replaceAll('\u001b[0m', ''));
  return STEPS.filter((step) => !lines.includes(step));
}
