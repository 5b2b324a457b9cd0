import type { Migration } from 'kysely';
import * as initial from './0001-initial.js';
import * as installation from './0002-installation.js';
import * as moved from './0003-moved.js';
import * as likeCounts from './0004-like-counts.js';
import * as feedIndex from './0005-feed-index.js';
import * as retriesAndQuotas from './0006-retries-and-quotas.js';
import * as usernameKeys from './0007-username-keys.js';
import * as privateAccountsIndex from './0008-private-accounts-index.js';
import * as outboxKindIndex from './0009-outbox-kind-index.js';
import * as feedBlocks from './0010-feed-blocks.js';
import * as withoutFeedBlocks from './0011-without-feed-blocks.js';
import * as operator from './0012-operator.js';
import * as operatorLog from './0013-operator-log.js';

/** All migrations, in the order in which they run. New ones are added at the end. A released migration is never edited. */
export const migrations: Record<string, Migration> = {
  '0001-initial': initial,
  '0002-installation': installation,
  '0003-moved': moved,
  '0004-like-counts': likeCounts,
  '0005-feed-index': feedIndex,
  '0006-retries-and-quotas': retriesAndQuotas,
  '0007-username-keys': usernameKeys,
  '0008-private-accounts-index': privateAccountsIndex,
  '0009-outbox-kind-index': outboxKindIndex,
  '0010-feed-blocks': feedBlocks,
  '0011-without-feed-blocks': withoutFeedBlocks,
  '0012-operator': operator,
  '0013-operator-log': operatorLog,
};
