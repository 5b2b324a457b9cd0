import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { operationsOf, resolveReferences } from '../generate/document.js';
import { type Change, findChanges } from './oasdiff.js';
import { versionProblem } from './version-problem.js';

/** The last released document, on one line, because only programs read it. */
export const RELEASED_FILE = 'scripts/versions/released.json';

/**
 * Changes that oasdiff reports as breaking, but which are compatible. It cannot compare patterns: since this release, those of
 * names, usernames, titles and texts are shorter or removed, and that of emails allows more. Their rules are unchanged, and are
 * in the descriptions.
 */
const COMPATIBLE = {
  since: '2.0.0',
  change:
    /^(?:changed the pattern of the request property|the) `(?:[^`]*\/)?(?:name|username|email|title|text)` (?:from|response's property pattern) /,
};

/**
 * Returns the versions of two OpenAPI documents, the changes between them that clients can notice, and a message if the version
 * number of the second does not reflect them.
 */
export async function compare(releasedFile: string, currentFile: string) {
  const [before, after] = await Promise.all(
    [releasedFile, currentFile].map(async (file) => parse(await readFile(file, 'utf8'))),
  );
  const [released, current] = [before.info.version, after.info.version];
  const found = (await findChanges(releasedFile, currentFile)).map((change) =>
    released === COMPATIBLE.since && COMPATIBLE.change.test(change.description)
      ? { ...change, breaking: false }
      : change,
  );
  const changes = [...found, ...newlySecured(before, after)];
  return { released, current, changes, problem: versionProblem(released, current, changes) };
}

/**
 * Returns a breaking change for each operation that now requires authentication. oasdiff reports these changes as
 * non-breaking, and misses inherited `security`.
 */
function newlySecured(released: unknown, current: unknown): Change[] {
  const locationsOf = (document: unknown, required: boolean) =>
    operationsOf(resolveReferences(document))
      .filter(({ requiresAuthentication }) => requiresAuthentication === required)
      .map(({ method, path }) => `${method} ${path}`);
  const openBefore = new Set(locationsOf(released, false));
  return locationsOf(current, true)
    .filter((location) => openBefore.has(location))
    .map((location) => ({ description: 'requires authentication', location, breaking: true }));
}
