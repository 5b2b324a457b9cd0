import { sql } from 'kysely';
import { readConfig } from '../../handlers/config/index.js';
import { createLogger } from '../../handlers/config/logger.js';
import { startService } from '../../handlers/service.js';

/* Runs the service like `scripts/start.ts`. SIGUSR2 starts a checkpoint and a new segment of the log. */

const config = readConfig(process.env);
const { stores, url, opsUrl, stop } = await startService(config, createLogger(config));
process.on('SIGUSR2', async () => {
  await sql`checkpoint`.execute(stores.db);
  await sql`select pg_switch_wal()`.execute(stores.db);
});
process.on('SIGTERM', async () => {
  await stop();
  process.exit(0);
});
console.log(`  API ${url}\n  Operations ${opsUrl}/readyz\n  Data ${config.stores.dataDir}`);
