import { operationsOf, resolveReferences } from '../generate/document.js';
import type { Change } from './oasdiff.js';

/** Operations that were open and are not any more: oasdiff takes credentials to be an addition, and misses inherited ones. */
export function newlySecured(released: unknown, current: unknown): Change[] {
  const [before, after] = [released, current].map((document) => operationsOf(resolveReferences(document)));
  const open = new Set(before?.filter(({ secured }) => !secured).map(({ method, path }) => `${method} ${path}`));
  return (after ?? [])
    .filter(({ secured, method, path }) => secured && open.has(`${method} ${path}`))
    .map(({ method, path }) => ({ what: 'asks for credentials', where: `${method} ${path}`, breaking: true }));
}
