import type { Exposition } from './prometheus.js';

/** Labels that Prometheus adds to every series. */
const TARGET_LABELS = ['job', 'instance'];

const IDENTIFIER = /[a-zA-Z_]\w*/g;

/** Returns the metrics that an expression selects as `name{…}`, each with the names of the labels in its braces. */
export function selectorsOf(expr: string): { name: string; labels: string[] }[] {
  return [...expr.matchAll(/([a-zA-Z_]\w*)\s*\{([^}]*)\}/g)].map(([, name = '', matchers = '']) => ({
    name,
    labels: [...matchers.matchAll(/([a-zA-Z_]\w*)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label),
  }));
}

/** Returns the labels that an expression groups by. */
const groupingLabels = (expr: string): string[] =>
  [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.match(IDENTIFIER) ?? []);

/**
 * Returns the metrics and labels that an expression names but that the service does not have, and the metrics that are written
 * without braces. Metrics that match `foreign` belong to other programs, so the service need not have them.
 */
export function unknownNames(expr: string, { samples }: Exposition, foreign = /^$/): string[] {
  const problems: string[] = [];
  const withoutStrings = expr.replaceAll(/"[^"]*"/g, '""');
  for (const [name] of withoutStrings.matchAll(/\b[a-z]+_[a-z_]+\b(?!\s*[({])/g)) {
    if (!groupingLabels(expr).includes(name)) problems.push(`${name} without braces`);
  }
  const known = new Set(TARGET_LABELS);
  for (const { name, labels } of selectorsOf(expr).filter((selector) => !foreign.test(selector.name))) {
    const found = samples.filter((sample) => sample.name === name);
    const own = new Set([...TARGET_LABELS, ...found.flatMap((sample) => Object.keys(sample.labels))]);
    if (found.length === 0) problems.push(name);
    else problems.push(...labels.filter((label) => !own.has(label)).map((label) => `${name}{${label}}`));
    for (const label of own) known.add(label);
  }
  const isForeign = selectorsOf(expr).some(({ name }) => foreign.test(name));
  if (!isForeign) problems.push(...groupingLabels(expr).filter((label) => !known.has(label)));
  return problems;
}
