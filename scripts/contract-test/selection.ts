import { CommandError } from '../support/command-error.js';
import { allRules, type ListedRule } from './run.js';

interface Selection {
  only?: readonly string[];
  skip?: readonly string[];
  slow?: boolean;
}

/**
 * Returns the rules to check.
 *
 * @throws CommandError if a pattern matches no rule, or if no rule is selected
 */
export function selectRules({ only = [], skip = [], slow = false }: Selection): ListedRule[] {
  for (const pattern of [...only, ...skip]) {
    if (!allRules.some(({ id }) => matchesAny(id, [pattern])))
      throw new CommandError(`no rule has an id like "${pattern}": --list prints all ids`);
  }
  const selected = allRules.filter(
    (rule) => (slow || !rule.slow) && (only.length === 0 || matchesAny(rule.id, only)) && !matchesAny(rule.id, skip),
  );
  if (selected.length === 0) throw new CommandError('no rule is selected; slow rules need --slow');
  return selected;
}

/**
 * Returns whether an id matches one of the patterns. A pattern is an id or a prefix up to a dot: `posts.list` selects
 * `posts.list.offset.feed`. A `*` matches any characters.
 */
const matchesAny = (id: string, patterns: readonly string[]) =>
  patterns.some((pattern) => {
    const escaped = pattern.replace(/[^\w*-]/g, '\\$&').replaceAll('*', '.*');
    return new RegExp(`^${escaped}(\\..*)?$`, 'i').test(id);
  });
