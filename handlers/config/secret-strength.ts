/** The digits, the alphabet, and the rows of a keyboard. Each is a cycle: its first character follows its last one. */
const ROWS = ['0123456789', 'abcdefghijklmnopqrstuvwxyz', 'qwertyuiop', 'asdfghjkl', 'zxcvbnm'];

/** Matches four or more adjacent characters of a row, forwards or backwards, or four or more equal characters. */
const RUN = new RegExp([...ROWS, ...ROWS.map(reverse)].map(runPattern).concat('(.)\\1{3,}').join('|'), 'gs');

/** Words that occur in placeholders and examples. A word precedes any word that it contains, so that the longer one matches. */
const WORDS = [
  ...['placeholder', 'production', 'characters', 'development', 'configure', 'generate', 'insecure', 'changeme'],
  ...['password', 'default', 'example', 'private', 'replace', 'signing', 'token', 'secret', 'sample', 'really'],
  ...['posting', 'service', 'social', 'change', 'please', 'secure', 'random', 'string', 'should', 'enough', 'least'],
  ...['passwd', 'insert', 'update', 'dummy', 'super', 'todo', 'fixme', 'local', 'admin', 'bytes', 'value', 'using'],
  ...['test', 'your', 'this', 'that', 'with', 'must', 'long', 'very', 'here', 'some', 'user', 'prod', 'only', 'not'],
  ...['key', 'jwt', 'dev', 'for', 'the', 'and', 'foo', 'bar', 'baz', 'app', 'api'],
];
const WORD = new RegExp(WORDS.join('|'), 'g');

const SEPARATORS = /[\s._-]/g;

const MIN_DISTINCT_CHARACTERS = 8;
const MIN_UNPREDICTABLE_CHARACTERS = 16;

/**
 * Returns the reason why a secret is obviously weak, as the end of a sentence, or undefined if it is not. Detects
 * placeholders and typed sequences, but does not measure entropy. Random secrets of 32 bytes in hex, base64 or base64url
 * pass.
 */
export function weaknessOf(secret: string): string | undefined {
  const text = secret.toLowerCase();
  if (new Set(text).size < MIN_DISTINCT_CHARACTERS)
    return `has fewer than ${MIN_DISTINCT_CHARACTERS} different characters`;
  if (isRepetition(text)) return 'repeats a short text';
  const unpredictable = text.replace(WORD, '').replace(SEPARATORS, '').replace(RUN, '');
  if (unpredictable.length < MIN_UNPREDICTABLE_CHARACTERS)
    return `has fewer than ${MIN_UNPREDICTABLE_CHARACTERS} characters besides placeholder words and sequences`;
  return undefined;
}

/** Returns whether the text consists of repetitions of a shorter text. The last repetition may be incomplete. */
function isRepetition(text: string): boolean {
  for (let period = 1; period <= text.length / 2; period += 1) {
    if (text.startsWith(text.slice(period))) return true;
  }
  return false;
}

function reverse(row: string): string {
  return [...row].reverse().join('');
}

/** Returns a pattern for four or more characters that follow one another in the row. */
function runPattern(row: string): string {
  const pairs = Array.from(row, (character, index) => `${character}(?=${row.charAt((index + 1) % row.length)})`);
  return `(?:${pairs.join('|')}){3,}.`;
}
