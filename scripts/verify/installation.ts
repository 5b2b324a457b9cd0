import { readInstallation, requireClaimedBy, requireKinds, StoresDisagreeError } from '../../db/installation.js';
import type { CheckContext } from './rules.js';

/**
 * Checks that the stores belong to the same installation, without changing anything. A repair with the graph of another
 * installation would delete the whole graph.
 *
 * @throws StoresDisagreeError
 */
export async function requireSameInstallation({ db, graph, images }: CheckContext['stores']): Promise<void> {
  const installation = await readInstallation(db);
  if (installation?.moving) throw new StoresDisagreeError('A move into these stores is incomplete');
  if (!installation?.graph || !installation.images) {
    throw new StoresDisagreeError('These stores are not set up: start the service first');
  }
  requireKinds(installation, { graph, images });
  requireClaimedBy(installation, 'graph', graph.kind, await graph.claimedBy());
  requireClaimedBy(installation, 'images', images.kind, await images.claimedBy());
}
