import { pathsIn } from '../../db/support/data-directory.js';
import { type Config, VARIABLE_NAMES } from '../../handlers/config/index.js';
import { configWarnings } from '../../handlers/config/warnings.js';
import { readTokenKeys } from '../../handlers/security/token-keys.js';
import { type Check, type CheckResult, ok, warning } from './checks.js';

/** Returns the checks of a valid configuration. */
export const configurationChecks = (config: Config): Check[] => [
  ['configuration', () => ok('valid')],
  ...configWarnings(config).map((text): Check => ['configuration', () => warning(text)]),
  ['TOKEN_KEYS', () => checkTokenKeys(config)],
  ['PUBLIC_URL', () => checkPublicUrl(config)],
];

/** Does not check the strength of the keys: weak ones already make the configuration invalid. */
async function checkTokenKeys({ tokenKeys, stores }: Config): Promise<CheckResult> {
  if (tokenKeys) return ok(`${tokenKeys.length} in TOKEN_KEYS, signing key: ${tokenKeys[0].id}`);
  const keys = await readTokenKeys(pathsIn(stores.dataDir).tokenKeys);
  return ok(keys ? `${keys.length} in DATA_DIR` : 'the first start generates a key in DATA_DIR');
}

function checkPublicUrl({ publicUrl, trustProxy }: Config): CheckResult {
  const isHttps = publicUrl.protocol === 'https:';
  if (isHttps && trustProxy.length === 0) {
    return warning(
      `${publicUrl.origin} needs a proxy, but TRUST_PROXY is not set: all clients behind it share one rate limit`,
    );
  }
  if (!isHttps && trustProxy.length > 0) {
    return warning(
      `${publicUrl.origin} is not https, but TRUST_PROXY is set: set PUBLIC_URL to the URL that clients use, or cookies may lack Secure`,
    );
  }
  return ok(`${publicUrl.origin}, ${trustProxy.length > 0 ? `behind ${trustProxy.join(', ')}` : 'without a proxy'}`);
}

/** Variables that container platforms derive from the name of a service, such as `REDIS_PORT_6379_TCP`. */
const PLATFORM_VARIABLE = /_(PORT|SERVICE_HOST|SERVICE_PORT)(_|$)/;

/** Shorter names are too similar to unrelated ones: HOST and HOME. */
const MIN_COMPARED_LENGTH = 6;
const MAX_TYPOS = 2;

/**
 * Finds variables that the service does not read, but that begin with a prefix of its variables, or differ from one of them by
 * at most two typos.
 */
export function checkUnknownVariables(environment: NodeJS.ProcessEnv): CheckResult {
  const prefixes = new Set(VARIABLE_NAMES.flatMap((name) => /^[A-Z0-9]+_/.exec(name) ?? []));
  const suspects = Object.keys(environment).flatMap((name) => {
    if (VARIABLE_NAMES.includes(name) || PLATFORM_VARIABLE.test(name)) return [];
    const nearest = VARIABLE_NAMES.filter(({ length }) => length >= MIN_COMPARED_LENGTH)
      .map((known) => ({ known, typos: editDistance(name, known) }))
      .reduce((best, next) => (next.typos < best.typos ? next : best));
    if (nearest.typos <= MAX_TYPOS) return [`${name} (${nearest.known}?)`];
    return prefixes.has(/^[A-Z0-9]+_/.exec(name)?.[0] ?? '') ? [name] : [];
  });
  return suspects.length > 0 ? warning(`not read: ${suspects.join(', ')}`) : ok('none');
}

/** Returns the Levenshtein distance. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...b].entries()) {
      const replaced = (row[j] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
