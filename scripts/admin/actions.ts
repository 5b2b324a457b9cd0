import { Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import { createOutbox } from '../../db/outbox/index.js';
import { openBareStores, openStores, type StoresConfig } from '../../db/stores/index.js';
import { DataDirectoryInUseError } from '../../db/support/data-directory.js';
import { type AdminActions, AdminInputError, createAdminActions } from '../../handlers/admin/index.js';
import { readConfig } from '../../handlers/config/index.js';
import { createLogger } from '../../handlers/config/logger.js';
import { ADMIN_PATH, ARCHIVE_TYPE } from '../../handlers/control.js';
import { requireDatabase, withDataDirectory } from '../support/bare-stores.js';
import { UsageError } from '../support/command-error.js';
import { requestControl } from '../support/control-client.js';
import { silentLog } from '../support/silent-log.js';
import { requireMigrated, requireSameInstallation } from '../verify/verify.js';

/** The result of an action. An archive is a stream. */
export type ResultOf<Name extends keyof AdminActions> =
  Awaited<ReturnType<AdminActions[Name]>> extends infer Result
    ? Result extends AsyncGenerator
      ? Readable
      : Result
    : never;

/** The actions that change nothing. For these, the stores are not migrated, and no background job runs. */
const READS: readonly (keyof AdminActions)[] = ['listAccounts', 'showAccount', 'showPost', 'exportAccount'];

/** Opens stores for an action that changes nothing. @throws StoresDisagreeError if a migration is pending */
async function openToRead(config: StoresConfig, name: keyof AdminActions) {
  const stores = await openBareStores(config, silentLog);
  try {
    // Only an export reads the other stores.
    await (name === 'exportAccount' ? requireSameInstallation(stores) : requireMigrated(stores));
    return { ...stores, outbox: createOutbox(stores, silentLog) };
  } catch (error) {
    await stores.close();
    throw error;
  }
}

/**
 * Runs an action of the operator, and passes its result to `use`. If a service has claimed the data directory, the service runs
 * it. Otherwise this process opens the stores, for a change as a service does, and logs the security event to standard error.
 *
 * @throws UsageError if the argument cannot be used
 * @throws CommandError, StoreUnavailableError, and the errors of `openStores`
 */
export async function withResult<Name extends keyof AdminActions>(
  name: Name,
  argument: Parameters<AdminActions[Name]>[0],
  use: (result: ResultOf<Name>) => Promise<void> | void,
): Promise<void> {
  const config = readConfig(process.env);
  requireDatabase(config.stores);
  const log = createLogger(config, process.stderr);
  await withDataDirectory(config.stores, async (selected) => {
    const opening = READS.includes(name) ? openToRead(selected, name) : openStores(selected, silentLog);
    const stores = await opening.catch((error): undefined => {
      if (!(error instanceof DataDirectoryInUseError) || selected.postgres) throw error;
    });
    if (!stores) {
      const response = await requestControl(selected.dataDir, `${ADMIN_PATH}${name}`, argument);
      const isArchive = response.headers['content-type'] === ARCHIVE_TYPE;
      return use((isArchive ? response : await json(response)) as ResultOf<Name>);
    }
    try {
      const result = await createAdminActions({ ...stores, log })[name](argument as never);
      await use((Symbol.asyncIterator in result ? Readable.from(result) : result) as ResultOf<Name>);
    } catch (error) {
      throw error instanceof AdminInputError ? new UsageError(error.message) : error;
    } finally {
      await stores.close();
    }
  });
}
