import { parseArgs } from 'node:util';
import { restoreBackup } from '../db/backup/restore.js';
import { readConfig } from '../handlers/config/index.js';
import { explain } from './explain.js';
import { PlainError } from './plain-error.js';

try {
  const { from } = parseArgs({ options: { from: { type: 'string' } } }).values;
  if (from === undefined) throw new PlainError('Name the backup to restore: npm run restore -- --from FILE');
  const { stores } = readConfig(process.env);
  if (stores.postgres) {
    throw new PlainError('DATABASE_URL is set: a backup is restored into the embedded stores of a new DATA_DIR');
  }
  const files = await restoreBackup(from, stores.dataDir);
  console.log(`${files} files are restored into ${stores.dataDir}. npm run verify checks them; npm start serves them.`);
} catch (error) {
  console.error(explain(error));
  process.exitCode = 1;
}
