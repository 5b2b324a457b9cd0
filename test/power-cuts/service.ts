import { sql } from 'kysely';
import { readConfig } from '../../handlers/config/index.js';
import { createLogger } from '../../handlers/config/logger.js';
import { startService } from '../../handlers/service.js';

/*
 * Runs the service like `scripts/start.ts`, and also executes SQL statements that its parent sends, such as checkpoints, which
 * a short run would not trigger.
 */

const config = readConfig(process.env);
const service = await startService(config, createLogger(config));
process.on('message', async (statement: string) => {
  const { rows } = await sql.raw(statement).execute(service.stores.db);
  process.send?.({ rows });
});
process.once('disconnect', () => process.exit());
process.on('SIGTERM', async () => {
  await service.stop();
  process.exit(0);
});
process.send?.({ url: service.url });
