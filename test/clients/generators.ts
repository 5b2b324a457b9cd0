import { readFileSync } from 'node:fs';
import { delimiter } from 'node:path';
import { go, java, type Language, others, python, sources, typescript } from './languages.js';

export interface Client {
  /** The name of its folder, in the folder of its language. */
  name: string;
  language: Language;
  /** The generator with its version. */
  generator: string;
  /**
   * Runs in a folder with `openapi.yaml` and an empty folder `client`. Undefined if the client needs only
   * `generated/types.ts`, which is copied into the folder.
   */
  command?: string;
  /** Required options and limitations. */
  remarks: string;
  /** Replaces the `compile` commands of the language. */
  compile?: string[][];
  /** Replaces the `env` of the language. */
  env?: NodeJS.ProcessEnv;
}

/** Returns the version in a manifest, which is the first group of the pattern. */
function pinnedVersion(manifest: string, pattern: RegExp): string {
  const found = pattern.exec(readFileSync(sources(manifest), 'utf8'))?.[1];
  if (found === undefined) throw new Error(`${manifest} has no version that matches ${pattern}`);
  return found;
}

const fromNpm = (name: string) =>
  `${name} ${pinnedVersion('typescript/package.json', new RegExp(`"${name}": "(.+)"`))}`;
const fromPyPi = (name: string) =>
  `${name} ${pinnedVersion('python/requirements.txt', new RegExp(`^${name}==(\\S+)`, 'm'))}`;
const fromGo = (name: string) => `${name} ${pinnedVersion('go/go.mod', new RegExp(`/${name}/v2 v(\\S+)`))}`;
const fromMaven = `openapi-generator ${pinnedVersion('openapi-generator/pom.xml', /-cli<\/artifactId>\s*<version>(.+)</)}`;

const openapiGeneratorCommand = (name: string, options: string[] = []) =>
  ['openapi-generator generate -g', name, '-i openapi.yaml -o client', ...options].join(' ');

const ALLOW_UNKNOWN_FIELDS = 'disallowAdditionalPropertiesIfNotPresent=false';
const ALLOW_UNKNOWN_FIELDS_REMARK = 'without `disallow…` it rejects responses with unknown fields';

export const clients: Client[] = [
  {
    name: 'openapi-fetch',
    language: typescript,
    generator: fromNpm('openapi-fetch'),
    remarks: 'a call needs `bodySerializer` for a form and `parseAs: "blob"` for bytes',
  },
  {
    name: 'hey-api',
    language: typescript,
    generator: fromNpm('@hey-api/openapi-ts'),
    command: 'openapi-ts -i openapi.yaml -o client',
    remarks: '',
  },
  {
    name: 'orval-fetch',
    language: typescript,
    generator: fromNpm('orval'),
    command: 'orval --config orval.config.mjs',
    remarks: 'a `mutator`, `request.ts`, sets the base URL and parses responses by media type',
  },
  {
    name: 'orval-axios',
    language: typescript,
    generator: `${fromNpm('orval')}, ${fromNpm('axios')}`,
    command: 'orval --config orval.config.mjs',
    remarks: 'in Node, a download needs `{ adapter: "fetch" }`; the body of an error is then a `Blob` too',
  },
  {
    name: 'typescript-fetch',
    language: typescript,
    generator: fromMaven,
    command: openapiGeneratorCommand('typescript-fetch'),
    remarks: '',
  },
  {
    name: 'openapi-python-client',
    language: python,
    generator: fromPyPi('openapi-python-client'),
    command:
      'openapi-python-client generate --path openapi.yaml --output-path client --overwrite --meta none --config config.yaml',
    remarks: 'needs `content_type_overrides` in `config.yaml`, otherwise bytes are dropped',
  },
  {
    name: 'openapi-generator',
    language: python,
    generator: fromMaven,
    command: openapiGeneratorCommand('python'),
    remarks: 'typed, but not strictly; validates bounds before sending',
    compile: [
      ['mypy', '--config-file', '../mypy.ini', 'main.py'],
      ['mypy', '--config-file', 'client/pyproject.toml', 'client/openapi_client'],
    ],
    env: { PYTHONPATH: `..${delimiter}client`, MYPYPATH: `..${delimiter}client` },
  },
  {
    name: 'oapi-codegen',
    language: go,
    generator: fromGo('oapi-codegen'),
    command: 'go tool oapi-codegen -generate types,client -package client -o client/client.go openapi.yaml',
    remarks: 'forms are built by hand with `mime/multipart`',
  },
  {
    name: 'openapi-generator',
    language: go,
    generator: fromMaven,
    command: openapiGeneratorCommand('go', [
      `--additional-properties=packageName=client,withGoMod=false,${ALLOW_UNKNOWN_FIELDS}`,
      '--global-property=apiTests=false',
    ]),
    remarks: `the options place it in an existing module; ${ALLOW_UNKNOWN_FIELDS_REMARK}`,
  },
  {
    name: 'openapi-generator',
    language: java,
    generator: fromMaven,
    command: openapiGeneratorCommand('java', [`--additional-properties=${ALLOW_UNKNOWN_FIELDS}`]),
    remarks: ALLOW_UNKNOWN_FIELDS_REMARK,
  },
  ...['kotlin', 'swift6', 'rust', 'csharp'].map((name) => ({
    name,
    language: others,
    generator: fromMaven,
    command: openapiGeneratorCommand(name),
    remarks: '',
  })),
];

/** Returns the name with the language, by which the README and `--only` select a client. */
export const nameOf = ({ language, name }: Client) => (language === others ? name : `${language.name}/${name}`);
