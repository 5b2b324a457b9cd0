import { delimiter } from 'node:path';
import { go, java, type Language, others, python, typescript } from './languages.js';

export interface GeneratedClient {
  /** The name of its folder, in the folder of its language. */
  name: string;
  language: Language;
  /**
   * Runs in a folder with `openapi.yaml` and an empty folder `client`. Undefined if the client needs only
   * `generated/types.ts`, which is copied into the folder.
   */
  command?: string;
  /** Replaces the `compile` commands of the language. */
  compile?: string[][];
  /** Replaces the `env` of the language. */
  env?: NodeJS.ProcessEnv;
  /** False if the client is only compiled. */
  isRun?: boolean;
}

const openapiGeneratorCommand = (name: string, options: string[] = []) =>
  ['openapi-generator generate -g', name, '-i openapi.yaml -o client', ...options].join(' ');

/** Without it, the client rejects responses with unknown fields. */
const ALLOW_UNKNOWN_FIELDS = 'disallowAdditionalPropertiesIfNotPresent=false';

export const clients: GeneratedClient[] = [
  {
    name: 'openapi-fetch',
    language: typescript,
  },
  {
    name: 'hey-api',
    language: typescript,
    command: 'openapi-ts -i openapi.yaml -o client',
  },
  {
    name: 'orval-fetch',
    language: typescript,
    command: 'orval --config orval.config.mjs',
  },
  {
    name: 'oazapfts',
    language: typescript,
    command: 'oazapfts openapi.yaml client/client.ts',
  },
  {
    name: 'typescript-fetch',
    language: typescript,
    command: openapiGeneratorCommand('typescript-fetch'),
  },
  {
    name: 'postman',
    language: typescript,
    command: 'openapi2postmanv2 -s openapi.yaml -o client/collection.json',
  },
  {
    name: 'openapi-python-client',
    language: python,
    command:
      'openapi-python-client generate --path openapi.yaml --output-path client --overwrite --meta none --config config.yaml',
  },
  {
    name: 'openapi-generator',
    language: python,
    command: openapiGeneratorCommand('python'),
    compile: [
      ['mypy', '--config-file', '../mypy.ini', 'main.py'],
      ['mypy', '--config-file', 'client/pyproject.toml', 'client/openapi_client'],
    ],
    env: { PYTHONPATH: `..${delimiter}client`, MYPYPATH: `..${delimiter}client` },
  },
  {
    name: 'oapi-codegen',
    language: go,
    command: 'go tool oapi-codegen -generate types,client -package client -o client/client.go openapi.yaml',
  },
  {
    name: 'openapi-generator',
    language: go,
    command: openapiGeneratorCommand('go', [
      `--additional-properties=packageName=client,withGoMod=false,${ALLOW_UNKNOWN_FIELDS}`,
      '--global-property=apiTests=false',
    ]),
  },
  {
    name: 'ogen',
    language: go,
    command: 'go tool ogen --target client --package client --clean openapi.yaml',
    compile: [['go', 'vet', './client']],
    isRun: false,
  },
  {
    name: 'openapi-generator',
    language: java,
    command: openapiGeneratorCommand('java', [`--additional-properties=${ALLOW_UNKNOWN_FIELDS}`]),
  },
  ...['kotlin', 'swift6', 'rust', 'csharp'].map((name) => ({
    name,
    language: others,
    command: openapiGeneratorCommand(name),
  })),
];

/** Returns the name with the language, by which the README names a client. */
export const nameOf = ({ language, name }: GeneratedClient) =>
  language === others ? name : `${language.name}/${name}`;
