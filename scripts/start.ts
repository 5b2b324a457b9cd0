import { resolve } from 'node:path';
import { type Config, readConfig } from '../handlers/config/index.js';
import { createLogger } from '../handlers/config/logger.js';
import { startService } from '../handlers/service.js';
import { explain } from './explain.js';

/** Returns a list of the configured stores. Of a URL, which may contain a password, it includes only the host. */
function describeStores({ stores: { postgres, neo4j, s3 }, redis }: Config): string {
  const describeUrl = (name: string, url: string | undefined) =>
    url === undefined ? [] : [`${name} at ${new URL(url).host}`];
  const stores = [
    ...describeUrl('PostgreSQL', postgres?.url),
    ...describeUrl('Neo4j', neo4j?.uri),
    ...(s3 ? [`S3 bucket ${s3.bucket}`] : []),
    ...describeUrl('Redis', redis?.url),
  ];
  return stores.join(', ') || 'embedded';
}

try {
  const config = readConfig(process.env);
  const service = await startService(config, createLogger(config.logLevel));
  let stopping = false;
  const stop = (exitCode = 0) => {
    // Ctrl-C arrives twice: from the terminal and from npm.
    if (stopping) return;
    stopping = true;
    service.stop().then(
      () => process.exit(exitCode),
      (error) => {
        console.error(error);
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', () => stop()).on('SIGINT', () => stop());
  // A store that was unavailable during the start may turn out to belong to another installation.
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
      `  Stores      ${describeStores(config)}`,
      `  Data        ${resolve(config.stores.dataDir)}`,
      '',
    ].join('\n'),
  );
} catch (error) {
  console.error(explain(error));
  process.exit(1);
}
