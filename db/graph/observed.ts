import { type Gate, type Observer, observeMethods } from '../support/observer.js';
import type { SocialGraph } from './index.js';

/** The methods that requests and outbox deliveries call. */
const METHODS = [
  'relationsBetween',
  'friendsOfEach',
  'requestersOf',
  'like',
  'unlike',
  'request',
  'accept',
  'decline',
  'cancel',
  'unfriend',
  'ensureNodes',
  'removePerson',
  'removePost',
] as const;

/** Returns a graph that reports its calls to the observer, and allows them only while the gate does. */
export const observedGraph = (graph: SocialGraph, observer: Observer, gate: Gate): SocialGraph => ({
  ...observeMethods('graph', graph, METHODS, observer, gate),
  within: (trx) => observedGraph(graph.within(trx), observer, gate),
});
