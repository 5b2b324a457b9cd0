import { availableParallelism } from 'node:os';
import { pathsIn } from '../../db/support/data-directory.js';
import type { Config } from '../../handlers/config/index.js';
import { configWarnings } from '../../handlers/config/warnings.js';
import { readTokenKeys } from '../../handlers/security/token-keys.js';
import { type Check, type CheckResult, ok, warning } from './checks.js';

/** Returns the checks of a valid configuration. */
export const configurationChecks = (config: Config): Check[] => [
  ['configuration', () => ok('valid')],
  ...configWarnings(config).map((text): Check => ['configuration', () => warning(text)]),
  ['TOKEN_KEYS', () => checkTokenKeys(config)],
  ['PUBLIC_URL', () => checkPublicUrl(config)],
  ['WORKERS', () => checkWorkers(config)],
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

function checkWorkers({ workers }: Config): CheckResult {
  const cores = availableParallelism();
  const description = `${workers}, cores: ${cores}`;
  return workers > cores
    ? warning(`${description}; more workers than cores do not increase throughput`)
    : ok(description);
}
