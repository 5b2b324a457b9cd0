import { cp } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { toolsFolder } from '../../scripts/tools/folder.js';
import { buildOnce } from '../support/tools.js';
import { venv } from '../support/venv.js';
import { run } from './command.js';

/** How the clients of a language are generated, compiled and run. Commands run in the folder of the client. */
export interface Language {
  /** Its folder, in this directory and in the tools folder. */
  name: string;
  /** Installs its dependencies unless they are present. */
  fetch(): Promise<unknown>;
  /** Prepended to PATH. */
  programs: string[];
  compile: string[][];
  scenarioCommand: string[];
  env?: NodeJS.ProcessEnv;
}

/** Returns a path of committed files. */
export const sources = (...path: string[]) => join('test', 'clients', ...path);

/** Returns a path of the working copy, where clients are generated and compiled. */
export const workingCopy = (...path: string[]) => toolsFolder('clients', ...path);

async function mustRun(command: string[], cwd: string): Promise<void> {
  const { ok, output } = await run(command, { cwd });
  if (!ok) throw new Error(`${command.join(' ')} failed:\n${output}`);
}

const packages = workingCopy('typescript', 'node_modules');

export const typescript: Language = {
  name: 'typescript',
  fetch: () => {
    const manifests = ['package.json', 'package-lock.json'].map((name) => sources('typescript', name));
    return buildOnce(join('clients', 'typescript'), manifests, async (directory) => {
      for (const manifest of manifests) await cp(manifest, join(directory, basename(manifest)));
      await mustRun(['npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund'], directory);
    });
  },
  // Some generators need a newer Node.js, from npm where it has a build for this platform.
  programs: [join(packages, `node-${process.platform}-${process.arch}`, 'bin'), join(packages, '.bin')],
  compile: [[process.execPath, join(packages, 'typescript', 'bin', 'tsc'), '--project', '.']],
  scenarioCommand: [process.execPath, '--import', import.meta.resolve('tsx'), 'main.ts'],
};

const environment = toolsFolder('venv', 'clients', 'bin');

export const python: Language = {
  name: 'python',
  fetch: () => venv('clients', sources('python', 'requirements.txt')),
  programs: [environment],
  compile: [
    ['mypy', '--config-file', '../mypy.ini', 'main.py'],
    ['mypy', '--config-file', '../mypy.ini', 'client'],
  ],
  scenarioCommand: ['python', 'main.py'],
  // The folder of the scenario.
  env: { PYTHONPATH: '..', MYPYPATH: '..' },
};

export const go: Language = {
  name: 'go',
  fetch: () => Promise.resolve(),
  programs: [],
  compile: [
    ['go', 'vet', './...'],
    ['go', 'build', '-o', 'play', '.'],
  ],
  scenarioCommand: ['./play'],
};

/** Halves the time of short runs: no optimizing compiler. */
const SHORT_RUN_OPTIONS = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'];

export const java: Language = {
  name: 'java',
  fetch: () => Promise.resolve(),
  programs: [],
  compile: [['mvn', '-B', 'compile']],
  scenarioCommand: ['mvn', '-B', 'exec:java'],
  env: { MAVEN_OPTS: SHORT_RUN_OPTIONS.join(' ') },
};

/** Generated only. */
export const others: Language = {
  name: 'others',
  fetch: () => Promise.resolve(),
  programs: [],
  compile: [],
  scenarioCommand: [],
};

const JAR = 'openapi-generator-cli.jar';

/** Installs openapi-generator. Returns the command that runs it. */
export async function openapiGenerator(): Promise<string[]> {
  const manifest = sources('openapi-generator', 'pom.xml');
  const directory = await buildOnce('openapi-generator', [manifest], (made) => {
    const options = ['-DexcludeTransitive=true', '-Dmdep.stripVersion=true', `-DoutputDirectory=${made}`];
    return mustRun(['mvn', '-B', '-f', manifest, 'dependency:copy-dependencies', ...options], '.');
  });
  return ['java', ...SHORT_RUN_OPTIONS, '-jar', join(directory, JAR)];
}
