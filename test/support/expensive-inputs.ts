interface Recipe {
  before?: string;
  repeated: string;
  after?: string;
}

/** Recipes of texts that are expensive to normalize, case-map, match or parse. */
const RECIPES: Record<string, Recipe> = {
  'one letter': { repeated: 'a' },
  'a valid password except for its length': { repeated: 'aB3-' },
  'dotted local part': { repeated: 'a.', after: 'a@n.example' },
  'dotted domain': { before: 'a@', repeated: 'a.' },
  'hyphens in a domain': { before: 'a@', repeated: 'a-' },
  'at signs': { repeated: 'a@' },
  'white space': { repeated: ' \u2003' },
  'white space inside': { before: 'a', repeated: ' ', after: 'a' },
  'joined emoji': { repeated: '👩\u200d👩\u200d👧\u200d👦' },
  'a character that NFKC expands to eighteen': { repeated: '\ufdfa' },
  'letters that expand in the other case': { repeated: '\u0130ß\u1e9e\u0390' },
  'conjoining letters': { repeated: '\u1100\u1161\u11a8' },
  NULs: { repeated: '\0' },
  'unpaired surrogates': { repeated: '\udc00' },
  'quotes and backslashes': { repeated: '\\"' },
  digits: { repeated: '9' },
};

const bytesInJson = (text: string) => Buffer.byteLength(JSON.stringify(text)) - 2;

/** Returns texts that are expensive to process, by description. In JSON, each has at most this size. */
export function expensiveTexts(maxBytes: number): Record<string, string> {
  const texts = Object.entries(RECIPES).map(([name, { before = '', repeated, after = '' }]) => {
    const count = Math.floor((maxBytes - bytesInJson(before + after)) / bytesInJson(repeated));
    return [name, before + repeated.repeat(count) + after];
  });
  // Sorting a run of combining marks into canonical order takes quadratic time.
  const marks = Math.floor((maxBytes - 1) / 4);
  texts.push(['marks in reverse canonical order', `a${'\u0301'.repeat(marks)}${'\u0316'.repeat(marks)}`]);
  return Object.fromEntries(texts);
}

/** Returns JSON bodies that are expensive to parse or validate, by description. Each has at most this size. */
export function expensiveJson(maxBytes: number): Record<string, string> {
  const depth = Math.floor(maxBytes / 2) - 10;
  const names: string[] = [];
  for (let bytes = 2; bytes < maxBytes - 12; bytes += names.at(-1)?.length ?? 0) names.push(`"${names.length}":0,`);
  return {
    'nested arrays': `{"email":${'['.repeat(depth)}${']'.repeat(depth)}}`,
    'nested objects': `{"email":${'{"":'.repeat(depth / 3)}0${'}'.repeat(depth / 3)}}`,
    'many unknown fields': `{${names.join('')}"x":0}`,
    'a long unknown field': `{"${'n'.repeat(maxBytes - 6)}":0}`,
    'an unknown field of unpaired surrogates': `{"${'\\ud800'.repeat((maxBytes - 6) / 6)}":0}`,
    'a long number': `{"email":${'9'.repeat(maxBytes - 10)}}`,
    'a number beyond the range of doubles': '{"email":1e999999999,"password":-1e999999999}',
    'names of inherited properties':
      '{"__proto__":{"email":"x"},"constructor":"x","toString":"x","hasOwnProperty":"x"}',
  };
}
