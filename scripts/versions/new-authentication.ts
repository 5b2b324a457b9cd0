import { operationsOf, resolveReferences } from '../generate/document.js';
import type { Change } from './oasdiff.js';

/**
 * Returns a breaking change for each operation that now requires authentication. oasdiff reports these changes as
 * non-breaking, and misses inherited `security`.
 */
export function newlySecured(released: unknown, current: unknown): Change[] {
  const [before, after] = [released, current].map((document) => operationsOf(resolveReferences(document)));
  const openBefore = new Set(before?.filter(({ secured }) => !secured).map(({ method, path }) => `${method} ${path}`));
  return (after ?? [])
    .filter(({ secured, method, path }) => secured && openBefore.has(`${method} ${path}`))
    .map(({ method, path }) => ({
      description: 'requires authentication',
      location: `${method} ${path}`,
      breaking: true,
    }));
}
