import { cp } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { toolsFolder } from '../../scripts/tools/folder.js';
import { madeOnce } from '../support/tools.js';
import { venv } from '../support/venv.js';
import { run } from './command.js';

/** How the clients of a language are made and used. Commands run in the client's own folder. */
export interface Language {
  /** Its folder, here and among the tools. */
  name: string;
  /** Fetches what is needed, the first time. */
  fetch(): Promise<unknown>;
  /** In PATH before all others. */
  programs: string[];
  compile: string[][];
  play: string[];
  env?: NodeJS.ProcessEnv;
}

/** What is committed. */
export const sources = (...path: string[]) => join('test', 'clients', ...path);

/** Where it is copied to, and where clients are generated and compiled. */
export const workshop = (...path: string[]) => toolsFolder('clients', ...path);

async function mustRun(command: string[], cwd: string): Promise<void> {
  const { ok, output } = await run(command, { cwd });
  if (!ok) throw new Error(`${command.join(' ')} fails:\n${output}`);
}

const packages = workshop('typescript', 'node_modules');

export const typescript: Language = {
  name: 'typescript',
  fetch: () => {
    const manifests = ['package.json', 'package-lock.json'].map((name) => sources('typescript', name));
    return madeOnce(join('clients', 'typescript'), manifests, async (directory) => {
      for (const manifest of manifests) await cp(manifest, join(directory, basename(manifest)));
      await mustRun(['npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund'], directory);
    });
  },
  // Some generators want a newer Node than clients are compiled and run on. Where npm has none, this one has to do.
  programs: [join(packages, `node-${process.platform}-${process.arch}`, 'bin'), join(packages, '.bin')],
  compile: [[process.execPath, join(packages, 'typescript', 'bin', 'tsc'), '--project', '.']],
  play: [process.execPath, '--import', import.meta.resolve('tsx'), 'main.ts'],
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
  play: ['python', 'main.py'],
  // Where the scenario is.
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
  play: ['./play'],
};

/** A Java that runs for seconds takes half the time when it does not compile its code well. */
const SHORT_LIVED = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'];

export const java: Language = {
  name: 'java',
  fetch: () => Promise.resolve(),
  programs: [],
  compile: [['mvn', '-B', 'compile']],
  play: ['mvn', '-B', 'exec:java'],
  env: { MAVEN_OPTS: SHORT_LIVED.join(' ') },
};

/** Generated, and looked at by people. */
export const others: Language = { name: 'others', fetch: () => Promise.resolve(), programs: [], compile: [], play: [] };

const JAR = 'openapi-generator-cli.jar';

/** The generator for many languages, and how it is called. */
export async function openapiGenerator(): Promise<string[]> {
  const manifest = sources('openapi-generator', 'pom.xml');
  const directory = await madeOnce('openapi-generator', [manifest], (made) => {
    const options = ['-DexcludeTransitive=true', '-Dmdep.stripVersion=true', `-DoutputDirectory=${made}`];
    return mustRun(['mvn', '-B', '-f', manifest, 'dependency:copy-dependencies', ...options], '.');
  });
  return ['java', ...SHORT_LIVED, '-jar', join(directory, JAR)];
}
