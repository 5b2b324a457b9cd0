import { resolve } from 'node:path';
import { DataDirectoryInUse } from '../db/data-directory.js';
import { StoresDisagree } from '../db/installation.js';
import { StoreUnavailable } from '../db/unavailable.js';
import { ConfigError, readConfig } from '../handlers/http/config.js';
import { createLogger } from '../handlers/http/logger.js';
import { startService } from '../handlers/service.js';

/** What an operator can mend is said in one line; all else is a fault, and keeps its stack. */
function explain(error: unknown): unknown {
  if (error instanceof ConfigError || error instanceof DataDirectoryInUse || error instanceof StoresDisagree) {
    return error.message;
  }
  if (error instanceof StoreUnavailable) {
    return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
  }
  // The operating system has refused an address, a port or a directory, and names it.
  return error instanceof Error && 'syscall' in error ? error.message : error;
}

try {
  const config = readConfig(process.env);
  const service = await startService(config, createLogger(config.logLevel));
  console.log(
    [
      '',
      `  API         ${service.url}`,
      `  Explorer    ${service.url}/docs`,
      `  Contract    ${service.url}/openapi.yaml`,
      `  Operations  ${service.opsUrl}/readyz`,
      `  Data        ${resolve(config.stores.dataDir)}`,
      '',
    ].join('\n'),
  );
  let stopping = false;
  const stop = () => {
    // A Ctrl-C comes twice, from the terminal and from npm.
    if (stopping) return;
    stopping = true;
    service.stop().then(
      () => process.exit(0),
      (error) => {
        console.error(error);
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', stop).on('SIGINT', stop);
} catch (error) {
  console.error(explain(error));
  process.exit(1);
}
