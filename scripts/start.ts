import { resolve } from 'node:path';
import { type Config, readConfig } from '../handlers/config/index.js';
import { createLogger } from '../handlers/config/logger.js';
import { startService } from '../handlers/service.js';
import { explain } from './explain.js';

/** Which stores serve. Of an address the host alone: a password may stand before it. */
function storesOf({ stores: { postgres, neo4j, s3 }, redis }: Config): string {
  const at = (name: string, url: string | undefined) => (url === undefined ? [] : [`${name} at ${new URL(url).host}`]);
  const named = [
    ...at('PostgreSQL', postgres?.url),
    ...at('Neo4j', neo4j?.uri),
    ...(s3 ? [`S3 bucket ${s3.bucket}`] : []),
    ...at('Redis', redis?.url),
  ];
  return named.join(', ') || 'embedded';
}

try {
  const config = readConfig(process.env);
  const service = await startService(config, createLogger(config.logLevel));
  let stopping = false;
  const stop = (code = 0) => {
    // A Ctrl-C comes twice, from the terminal and from npm.
    if (stopping) return;
    stopping = true;
    service.stop().then(
      () => process.exit(code),
      (error) => {
        console.error(error);
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', () => stop()).on('SIGINT', () => stop());
  // A store that has returned after the start may turn out to be another installation's.
  service.stores.verified.catch((error) => {
    console.error(explain(error));
    stop(1);
  });
  console.log(
    [
      '',
      `  API         ${service.url}`,
      `  Explorer    ${service.url}/docs`,
      `  Contract    ${service.url}/openapi.yaml`,
      `  Operations  ${service.opsUrl}/readyz`,
      `  Stores      ${storesOf(config)}`,
      `  Data        ${resolve(config.stores.dataDir)}`,
      '',
    ].join('\n'),
  );
} catch (error) {
  console.error(explain(error));
  process.exit(1);
}
