import { readFileSync } from 'node:fs';
import { access, chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { ConfigError, readConfig, VARIABLE_NAMES } from '../../handlers/config/index.js';
import { loadSecretFiles, SECRET_FILE_VARIABLES } from '../../handlers/config/secret-files.js';
import { configWarnings, misspelledVariables } from '../../handlers/config/warnings.js';
import { expectRefusedStart, startAndFail } from '../support/processes.js';
import { temporaryDirectory } from '../support/stores.js';

const DEFAULTS = {
  host: '127.0.0.1',
  port: 3000,
  opsHost: '127.0.0.1',
  opsPort: 3001,
  publicUrl: 'http://127.0.0.1:3000/',
  corsOrigins: [],
  trustProxy: [],
  stores: { dataDir: '.data', postgres: undefined, neo4j: undefined, s3: undefined },
  redis: undefined,
  tokenKeys: undefined,
  tokenTtlSeconds: 604_800,
  registration: 'open',
  rateLimit: { general: 300, strict: 20, windowSeconds: 900 },
  uploadMaxBytes: 5_242_880,
  uploadStripMetadata: true,
  account: { storageMaxBytes: 1_073_741_824, sessionsMax: 100, failedPasswordsMax: 100 },
  shutdownDelaySeconds: 0,
  logLevel: 'info',
  logFormat: undefined,
};

const SECRET = '6b1f0e9ad27c4835be04c7f9125d8a63';
const OTHER_SECRET = 'another:secret with all kinds of signs = / +';
const SECRET_OF_32_BYTES = 'éèêëàâäôöùûüîïçñ';

/** Reads a configuration whose URL can be compared: tap considers all URL objects equal. */
function read(environment: NodeJS.ProcessEnv) {
  const config = readConfig(environment);
  return { ...config, publicUrl: config.publicUrl.href };
}

const key = (id: string, secret: string) => ({ id, secret });
const withKeyId = (rest: string) => `one:${rest}`;
const words = (text: string) => text.split(' ');

/** Returns the error message for this environment, or 'not refused'. */
function messageFor(environment: NodeJS.ProcessEnv): string {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return 'not refused';
}

t.test('every variable has its default', async (t) => {
  t.same(read({}), DEFAULTS);
  const others = { PATH: '/bin', NODE_ENV: 'production', PORTS: 'x', AWS_REGION: 'x' };
  t.same(read(others), DEFAULTS, 'other variables are ignored');
});

t.test('an empty variable counts as unset', async (t) => {
  for (const name of VARIABLE_NAMES) t.same(read({ [name]: '' }), DEFAULTS, name);
});

t.test('each variable sets its option', async (t) => {
  const { stores, rateLimit, account } = DEFAULTS;
  for (const [name, value, expected] of [
    ['HOST', 'social.example', { host: 'social.example', publicUrl: 'http://social.example:3000/' }],
    ['HOST', '::1', { host: '::1', publicUrl: 'http://[::1]:3000/' }],
    ['PORT', '80', { port: 80, publicUrl: 'http://127.0.0.1/' }],
    ['PORT', '0', { port: 0, publicUrl: 'http://127.0.0.1:0/' }],
    ['OPS_HOST', '::1', { opsHost: '::1' }],
    ['OPS_PORT', '65535', { opsPort: 65_535 }],
    ['PUBLIC_URL', 'https://social.example', { publicUrl: 'https://social.example/' }],
    ['PUBLIC_URL', 'http://[::1]:3000/', { publicUrl: 'http://[::1]:3000/' }],
    [
      'CORS_ORIGINS',
      'https://a.example, http://b.example:81',
      { corsOrigins: words('https://a.example http://b.example:81') },
    ],
    ['TRUST_PROXY', '10.0.0.1,10.0.0.0/8, ::1 ,fd00::/8', { trustProxy: words('10.0.0.1 10.0.0.0/8 ::1 fd00::/8') }],
    ['TRUST_PROXY', ' 10.0.0.1  10.0.0.0/8\n', { trustProxy: words('10.0.0.1 10.0.0.0/8') }],
    ['DATA_DIR', '/var/lib/a b', { stores: { ...stores, dataDir: '/var/lib/a b' } }],
    ['TOKEN_KEYS', `1:${SECRET},k_2:${OTHER_SECRET}`, { tokenKeys: [key('1', SECRET), key('k_2', OTHER_SECRET)] }],
    ['TOKEN_KEYS', `1:${SECRET}\r\n2:${OTHER_SECRET}`, { tokenKeys: [key('1', SECRET), key('2', OTHER_SECRET)] }],
    ['TOKEN_KEYS', `one:${SECRET_OF_32_BYTES}`, { tokenKeys: [key('one', SECRET_OF_32_BYTES)] }],
    ['TOKEN_KEYS', `one:${'abcdefgh'.repeat(4)}`, { tokenKeys: [key('one', 'abcdefgh'.repeat(4))] }],
    ['TOKEN_TTL', '60', { tokenTtlSeconds: 60 }],
    ['REGISTRATION', 'closed', { registration: 'closed' }],
    ['RATE_LIMIT_MAX', '1', { rateLimit: { ...rateLimit, general: 1 } }],
    ['RATE_LIMIT_STRICT_MAX', '2', { rateLimit: { ...rateLimit, strict: 2 } }],
    ['RATE_LIMIT_WINDOW', '3', { rateLimit: { ...rateLimit, windowSeconds: 3 } }],
    ['UPLOAD_MAX_BYTES', '1024', { uploadMaxBytes: 1024 }],
    ['UPLOAD_STRIP_METADATA', 'false', { uploadStripMetadata: false }],
    ['ACCOUNT_STORAGE_MAX_BYTES', '1', { account: { ...account, storageMaxBytes: 1 } }],
    ['ACCOUNT_SESSIONS_MAX', '2', { account: { ...account, sessionsMax: 2 } }],
    ['ACCOUNT_FAILED_PASSWORDS_MAX', '3', { account: { ...account, failedPasswordsMax: 3 } }],
    ['SHUTDOWN_DELAY', '15', { shutdownDelaySeconds: 15 }],
    ['LOG_LEVEL', 'silent', { logLevel: 'silent' }],
    ['LOG_FORMAT', 'json', { logFormat: 'json' }],
  ] as const) {
    t.same(read({ [name]: value }), { ...DEFAULTS, ...expected }, `${name}=${value}`);
  }
});

const BAD_NUMBERS = ['x', '-1', '1.5', '1e3', '0x10', ' 1', '1 ', '+1', '1_000', '99999999999999999999', 'NaN', '1\n2'];
const POSITIVE_INTEGER_NAMES = VARIABLE_NAMES.filter((name) => /_(MAX|MAX_BYTES|WINDOW|POOL|TIMEOUT)$/.test(name));
const INVALID_VALUES: Record<string, string[]> = {
  ...Object.fromEntries(POSITIVE_INTEGER_NAMES.map((name) => [name, [...BAD_NUMBERS, '0']])),
  REDIS_TIMEOUT: [...BAD_NUMBERS, '0', '86400001'],
  S3_TIMEOUT: [...BAD_NUMBERS, '0', '300001'],
  HOST: ['two words', 'x/y', 'jo@x', 'x:80'],
  OPS_HOST: ['two words'],
  PORT: [...BAD_NUMBERS, '65536'],
  OPS_PORT: [...BAD_NUMBERS, '65536'],
  TOKEN_TTL: [...BAD_NUMBERS, '0', '9007199254740991'],
  RATE_LIMIT_WINDOW: [...BAD_NUMBERS, '0', '86401'],
  SHUTDOWN_DELAY: [...BAD_NUMBERS, '3601'],
  UPLOAD_STRIP_METADATA: ['yes', '1'],
  PUBLIC_URL: [
    ...words('x social.example ftp://social.example https://social.example/api https://social.example?x https://'),
    ...words('https://social.example#x https://jo@social.example https://:secret@social.example'),
  ],
  CORS_ORIGINS: [
    ...words('* null app.example https://app.example/ https://app.example/path https://APP.example'),
    ...['https://app.example:443', 'https://app.example,', 'https://app.example https://other.example'],
  ],
  TRUST_PROXY: words('true 1 localhost 10.0.0 10.0.0.0/33 10.0.0.0/0 10.0.0.0/x 10.0.0.0/ ::/129 ::1/64/64 10.0.0.1,'),
  TOKEN_KEYS: [
    ...[' ', 'one:', SECRET, `:${SECRET}`, `one ${SECRET}`, `o.ne:${SECRET}`, `one:${'x'.repeat(31)}`],
    ...[`${SECRET},`, `${SECRET},one:${SECRET}x`, `${SECRET},two:short`, `${SECRET},two:${SECRET}`].map(withKeyId),
    withKeyId(`${SECRET},two:${'abcdefg'.repeat(5)}`),
  ],
  LOG_LEVEL: ['loud', 'INFO', 'info\nx'],
  LOG_FORMAT: ['pretty', 'JSON'],
  REGISTRATION: ['Open', 'true'],
  DATABASE_URL: ['x', 'localhost:5432', 'mysql://db.example', 'jo:hunter2@db.example', 'postgres:/db.example'],
  NEO4J_URI: ['x', 'graph.example:7687', 'http://graph.example'],
  S3_ENDPOINT: ['x', 's3.example', 's3://images'],
  S3_PATH_STYLE: ['yes', 'True', '1'],
  REDIS_URL: [
    ...words('x redis.example:6379 http://redis.example redis:/redis.example redis://redis.example/cache'),
    'redis://:50%off@redis.example',
  ],
};

t.test('rejects an invalid value with a one-line message that names its variable', async (t) => {
  for (const [name, values] of Object.entries(INVALID_VALUES)) {
    for (const value of values) {
      t.match(messageFor({ [name]: value }), new RegExp(`^${name}: .{10,}$`), `${name}=${JSON.stringify(value)}`);
    }
  }
});

t.test('reports all invalid values in one line', async (t) => {
  const names = Object.keys(INVALID_VALUES);
  const message = messageFor(Object.fromEntries(names.map((name) => [name, INVALID_VALUES[name]?.[0]])));
  for (const name of names) t.match(message, new RegExp(`\\b${name}: `));
  t.notMatch(message, '\n');
});

const KEYS = { TOKEN_KEYS: `one:${SECRET}` };
const DATABASE_URL = 'postgres://jo:hunter2@db.example/social?sslmode=verify-full';

t.test('each store is selected separately, with its own options', async (t) => {
  const stores = (environment: NodeJS.ProcessEnv) => readConfig({ ...KEYS, ...environment }).stores;
  const postgres = { url: DATABASE_URL, poolSize: 10, graphPoolSize: 4, timeoutMs: 3000 };
  t.same(stores({ DATABASE_URL }), { ...DEFAULTS.stores, postgres });
  const pools = { DATABASE_POOL: '1', DATABASE_GRAPH_POOL: '2', DATABASE_TIMEOUT: '3' };
  const withPools = { url: DATABASE_URL, poolSize: 1, graphPoolSize: 2, timeoutMs: 3 };
  t.same(stores({ DATABASE_URL, ...pools }).postgres, withPools);

  const graph = { DATABASE_URL, NEO4J_URI: 'neo4j+s://graph.example' };
  const neo4j = { uri: graph.NEO4J_URI, username: undefined, password: undefined, poolSize: 20, timeoutMs: 2000 };
  t.same(stores(graph), { ...DEFAULTS.stores, postgres, neo4j });
  const login = { NEO4J_USERNAME: 'jo', NEO4J_PASSWORD: 'hunter2', NEO4J_POOL: '1', NEO4J_TIMEOUT: '2' };
  const expected = { uri: graph.NEO4J_URI, username: 'jo', password: 'hunter2', poolSize: 1, timeoutMs: 2 };
  t.same(stores({ ...graph, ...login }).neo4j, expected);

  const [S3_BUCKET, S3_ENDPOINT] = ['images', 'https://s3.example'];
  const s3 = { endpoint: undefined, bucket: S3_BUCKET, pathStyle: false, poolSize: 50, timeoutMs: 2000 };
  t.same(stores({ S3_BUCKET }), { ...DEFAULTS.stores, s3 }, 'without an endpoint, Amazon S3 is used');
  t.same(stores({ S3_BUCKET, S3_ENDPOINT }).s3, { ...s3, endpoint: S3_ENDPOINT, pathStyle: true });
  const options = { S3_ENDPOINT, S3_PATH_STYLE: 'false', S3_POOL: '1', S3_TIMEOUT: '2' };
  t.same(stores({ S3_BUCKET, ...options }).s3, { ...s3, endpoint: S3_ENDPOINT, poolSize: 1, timeoutMs: 2 });

  const REDIS_URL = 'rediss://:hunter2@redis.example/3';
  t.same(read({ ...KEYS, REDIS_URL }).redis, { url: REDIS_URL, timeoutMs: 250 });
  t.same(read({ ...KEYS, REDIS_URL, REDIS_TIMEOUT: '9' }).redis, { url: REDIS_URL, timeoutMs: 9 });
});

t.test('rejects a variable if another one that it requires is missing', async (t) => {
  for (const [environment, message] of [
    [{ ...KEYS, NEO4J_URI: 'neo4j://graph.example' }, 'NEO4J_URI: requires DATABASE_URL'],
    [{ ...KEYS, S3_ENDPOINT: 'https://s3.example' }, 'S3_ENDPOINT: requires S3_BUCKET'],
    [{ DATABASE_URL }, 'TOKEN_KEYS: required with DATABASE_URL'],
    [{ S3_BUCKET: 'images' }, 'TOKEN_KEYS: required with S3_BUCKET'],
    [{ REDIS_URL: 'redis://redis.example' }, 'TOKEN_KEYS: required with REDIS_URL'],
    [{ PORT: 'x', S3_BUCKET: 'images' }, /^PORT: .+; TOKEN_KEYS: required with S3_BUCKET$/],
  ] as const) {
    t.match(messageFor(environment), message);
  }
});

t.test('does not repeat the value of an invalid URL or list of token keys', async (t) => {
  for (const name of ['DATABASE_URL', 'NEO4J_URI', 'S3_ENDPOINT', 'REDIS_URL']) {
    t.notMatch(messageFor({ [name]: 'ftp://jo:hunter2@db.example' }), 'hunter2', name);
  }
  for (const value of [
    'hunter2hunter2',
    SECRET,
    `one:${SECRET},hunter2hunter2`,
    `one:${SECRET},two:hunter2hunter2`,
    `one:${SECRET},one:hunter2hunter2-hunter2hunter2-hunter2`,
    // Id and secret swapped.
    `${SECRET}:one`,
    `one:${SECRET},hunter2hunter2:two`,
  ]) {
    t.match(messageFor({ TOKEN_KEYS: value }), /^TOKEN_KEYS: /);
    t.notMatch(messageFor({ TOKEN_KEYS: value }), new RegExp(`hunter2|${SECRET}`));
  }
});

t.test('names variables whose names are similar to those of the service, and no others', async (t) => {
  const similar = {
    ...{ DATABSE_URL: 'DATABASE_URL', NEO4J_URL: 'NEO4J_URI', DATADIR: 'DATA_DIR', TOKEN_KEY: 'TOKEN_KEYS' },
    DATABSE_URL_FILE: 'DATABASE_URL_FILE',
  };
  for (const [name, known] of Object.entries(similar)) {
    const line = `${name} is not a variable of this service. Did you mean ${known}?`;
    t.same(misspelledVariables({ [name]: 'hush' }), [line]);
  }
  t.match(misspelledVariables({ WORKERS: '4' }), [
    'WORKERS is no longer a variable of this service. Start several processes instead.',
  ]);
  const others = [
    'HOME',
    'PATH',
    'HOSTNAME',
    'NODE_ENV',
    'AWS_REGION',
    'NEO4J_PASSWORD_FILE',
    'NEO4J_PORT',
    'REDIS_PORT_6379_TCP',
    'DATABASE_HOST',
  ];
  t.same(misspelledVariables(Object.fromEntries([...VARIABLE_NAMES, ...others].map((name) => [name, 'x']))), []);
});

t.test('reads a secret variable from the file in NAME_FILE', async (t) => {
  const directory = t.testdir({
    keys: `one:${SECRET}\n`,
    password: ' two lines \n\r\n',
    none: '',
    line: '\n',
    spaces: ' \n',
  });
  const variables: NodeJS.ProcessEnv = {
    TOKEN_KEYS_FILE: join(directory, 'keys'),
    NEO4J_PASSWORD_FILE: join(directory, 'password'),
    REDIS_URL_FILE: '',
    PORT_FILE: join(directory, 'keys'),
  };
  loadSecretFiles(variables);
  t.match(variables, {
    TOKEN_KEYS: `one:${SECRET}`,
    NEO4J_PASSWORD: ' two lines \n',
    REDIS_URL: undefined,
    PORT: undefined,
  });
  t.throws(() => loadSecretFiles(variables), { message: 'TOKEN_KEYS_FILE: must not be set together with TOKEN_KEYS' });
  t.throws(() => loadSecretFiles({ DATABASE_URL_FILE: directory }), { message: /^DATABASE_URL_FILE: EISDIR/ });
  const missing = join(directory, 'missing');
  t.throws(() => loadSecretFiles({ DATABASE_URL_FILE: missing }), { message: /^DATABASE_URL_FILE: ENOENT.*missing/ });
  for (const name of ['none', 'line', 'spaces']) {
    const message = `REDIS_URL_FILE: ${join(directory, name)} is empty`;
    t.throws(() => loadSecretFiles({ REDIS_URL_FILE: join(directory, name) }), { message });
  }
});

t.test('the Compose file sets each variable, or passes it to the service', async (t) => {
  const { services } = parse(readFileSync('scripts/deploy/compose.yaml', 'utf8'), { merge: true });
  const names = Object.keys(services['service-1'].environment).filter((name) => !name.startsWith('AWS_'));
  const isFile = (name: string) => SECRET_FILE_VARIABLES.includes(name);
  const set = names.map((name) => (isFile(name) ? name.slice(0, -'_FILE'.length) : name));
  // The image sets the ports and the directory, to which other containers and volumes refer. The path style follows S3_ENDPOINT.
  t.same([...set, 'PORT', 'OPS_PORT', 'DATA_DIR', 'S3_PATH_STYLE'].sort(), [...VARIABLE_NAMES].sort());
});

t.test('warns once about each questionable setting, and not about its safe alternative', async (t) => {
  const DATA_DIR = join(await temporaryDirectory(t), 'data');
  const warnings = (environment: NodeJS.ProcessEnv) => configWarnings(readConfig({ DATA_DIR, ...environment }));
  const https = 'https://social.example';
  const servers = { ...KEYS, DATABASE_URL, S3_BUCKET: 'images', TRUST_PROXY: '10.0.0.1' };
  for (const [count, environment] of [
    [0, {}],
    [1, { TRUST_PROXY: '0.0.0.0/1,128.0.0.0/1', OPS_HOST: '127.0.0.1' }],
    [0, { TRUST_PROXY: '10.0.0.0/8' }],
    [1, { TRUST_PROXY: '10.0.0.0/7' }],
    [0, { TRUST_PROXY: '10.0.0.0/8,172.16.0.0/12,192.168.0.0/16' }],
    [0, { TRUST_PROXY: '::ffff:10.0.0.0/104' }],
    [1, { TRUST_PROXY: '::ffff:0:0/96' }],
    [0, { TRUST_PROXY: 'fd00::/16,2001:db8::1' }],
    [1, { TRUST_PROXY: 'fd00::/15' }],
    [0, { OPS_HOST: '127.1.2.3' }],
    [0, { OPS_HOST: '::1' }],
    [0, { OPS_HOST: 'localhost' }],
    [1, { OPS_HOST: '0.0.0.0' }],
    [1, { OPS_HOST: '::' }],
    [1, { OPS_HOST: 'metrics.example' }],
    [1, { ...servers, PUBLIC_URL: https, CORS_ORIGINS: 'https://app.example,http://app.example' }],
    [0, { ...servers, PUBLIC_URL: https, CORS_ORIGINS: 'https://app.example' }],
    [1, { ...servers, PUBLIC_URL: https, TRUST_PROXY: '' }],
    [1, { ...servers, PUBLIC_URL: https, DATABASE_URL: '' }],
    [1, { ...servers, PUBLIC_URL: https, S3_BUCKET: '' }],
    [0, { PUBLIC_URL: 'http://social.example', CORS_ORIGINS: 'http://app.example' }],
    [0, { TOKEN_TTL: '31536000' }],
    [1, { TOKEN_TTL: '31536001' }],
    [2, { TOKEN_TTL: '31536001', OPS_HOST: '0.0.0.0' }],
  ] as [number, NodeJS.ProcessEnv][]) {
    t.equal(warnings(environment).length, count, JSON.stringify(environment));
  }
  await mkdir(DATA_DIR);
  for (const [count, mode, environment] of [
    [0, 0o700, {}],
    [1, 0o750, {}],
    [1, 0o701, {}],
    [0, 0o777, servers],
  ] as [number, number, NodeJS.ProcessEnv][]) {
    await chmod(DATA_DIR, mode);
    t.equal(warnings(environment).length, count, mode.toString(8));
  }
});

t.test('with an invalid variable, the start fails with a one-line message, before any store is opened', async (t) => {
  const DATA_DIR = join(await temporaryDirectory(t), 'data');
  const { code, output } = await startAndFail(t, { DATA_DIR, PORT: 'http', TOKEN_KEYS: 'hunter2hunter2' });
  t.equal(code, 1);
  t.match(output, /^PORT: .+; TOKEN_KEYS: .+\n$/);
  t.notMatch(output, 'hunter2');
  const DATABASE_URL_FILE = join(t.testdir({ empty: '' }), 'empty');
  await expectRefusedStart(t, { DATA_DIR, DATABASE_URL_FILE, PORT: 'http' }, /^DATABASE_URL_FILE: .+ is empty$/m);
  await t.rejects(access(DATA_DIR), { code: 'ENOENT' });
});
