import { cp } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { toolsFolder } from '../../scripts/support/tools-folder.js';
import { buildOnce, venv } from '../support/tools.js';
import { run } from './command.js';

/** The tools and commands of a language. Commands run in the folder of the client. */
export interface Language {
  /** The name of its folder, in this directory and in the tools folder. */
  name: string;
  /** Installs its dependencies unless they are present. */
  install?(): Promise<unknown>;
  /** Folders, prepended to PATH. */
  programs?: string[];
  /** Commands that compile a client together with the scenario, run in this order. */
  compile?: string[][];
  scenarioCommand?: string[];
  /** Added to the environment of all commands. */
  env?: NodeJS.ProcessEnv;
}

/** Returns a path below the committed files. */
export const sources = (...path: string[]) => join('test', 'clients', ...path);

/** Returns a path below the working copy, where clients are generated and compiled. */
export const workingCopy = (...path: string[]) => toolsFolder('clients', ...path);

const nodeModules = workingCopy('typescript', 'node_modules');

export const typescript: Language = {
  name: 'typescript',
  install: () => {
    const manifests = ['package.json', 'package-lock.json'].map((name) => sources('typescript', name));
    return buildOnce(join('clients', 'typescript'), manifests, async (directory) => {
      for (const manifest of manifests) await cp(manifest, join(directory, basename(manifest)));
      await run(['npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: directory });
    });
  },
  // Some generators need a newer Node.js, from npm where it has a build for this platform.
  programs: [join(nodeModules, `node-${process.platform}-${process.arch}`, 'bin'), join(nodeModules, '.bin')],
  compile: [[process.execPath, join(nodeModules, 'typescript', 'bin', 'tsc'), '--project', '.']],
  scenarioCommand: [process.execPath, '--import', import.meta.resolve('tsx'), 'main.ts'],
};

export const python: Language = {
  name: 'python',
  install: () => venv('clients', sources('python', 'requirements.txt')),
  programs: [toolsFolder('venv', 'clients', 'bin')],
  compile: [
    ['mypy', '--config-file', '../mypy.ini', 'main.py'],
    ['mypy', '--config-file', '../mypy.ini', 'client'],
  ],
  scenarioCommand: ['python', 'main.py'],
  // `scenario.py` is in the folder above.
  env: { PYTHONPATH: '..', MYPYPATH: '..' },
};

export const go: Language = {
  name: 'go',
  compile: [
    ['go', 'vet', './...'],
    ['go', 'build', '-o', 'run-scenario', '.'],
  ],
  scenarioCommand: ['./run-scenario'],
};

/** Disables the optimizing compiler, which halves the time of short runs. */
const SHORT_RUN_OPTIONS = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'];

/** Runs Maven with the pom.xml of the generated client, which lists its dependencies. The scenario needs a newer Java. */
const MAVEN = ['mvn', '-B', '-f', 'client', '-Djava.version=17'];

export const java: Language = {
  name: 'java',
  compile: [
    ['cp', 'Scenario.java', 'client/src/main/java'],
    [...MAVEN, 'compile'],
  ],
  scenarioCommand: [
    ...[...MAVEN, 'org.codehaus.mojo:exec-maven-plugin:3.6.2:java'],
    ...['-Dexec.mainClass=Scenario', '-Dexec.classpathScope=compile'],
  ],
  env: { MAVEN_OPTS: SHORT_RUN_OPTIONS.join(' ') },
};

/** Languages whose clients are only generated. */
export const others: Language = { name: 'others' };

/** Installs openapi-generator. Returns the command that runs it. */
export async function installOpenapiGenerator(): Promise<string[]> {
  const manifest = sources('openapi-generator', 'pom.xml');
  const directory = await buildOnce('openapi-generator', [manifest], async (folder) => {
    const options = ['-DexcludeTransitive=true', '-Dmdep.stripVersion=true', `-DoutputDirectory=${folder}`];
    await run(['mvn', '-B', '-f', manifest, 'dependency:copy-dependencies', ...options], { cwd: '.' });
  });
  return ['java', ...SHORT_RUN_OPTIONS, '-jar', join(directory, 'openapi-generator-cli.jar')];
}
