import { sql } from 'kysely';
import { readConfig } from '../../handlers/config/index.js';
import { createLogger } from '../../handlers/config/logger.js';
import { startService } from '../../handlers/service.js';

/*
 * The service in a process of its own, as `scripts/start.ts` runs it, which also runs statements that its parent sends:
 * checkpoints, above all, which a short run would not come to by itself.
 */

const config = readConfig(process.env);
const service = await startService(config, createLogger(config.logLevel));
process.on('message', async (statement: string) => {
  const { rows } = await sql.raw(statement).execute(service.stores.db);
  process.send?.({ rows });
});
process.on('SIGTERM', async () => {
  await service.stop();
  process.exit(0);
});
process.send?.({ url: service.url });
