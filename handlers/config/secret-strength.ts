/** Rows of adjacent characters. Four or more adjacent characters, forwards or backwards, count as a sequence. */
const ROWS = ['0123456789', 'abcdefghijklmnopqrstuvwxyz', 'qwertyuiop', 'asdfghjkl', 'zxcvbnm'];

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
const MIN_RUN_LENGTH = 4;

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
  const unpredictable = withoutRuns(text.replace(WORD, '').replace(SEPARATORS, ''));
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

/** Removes runs of at least `MIN_RUN_LENGTH` characters: repetitions of one character, and sequences in one of the `ROWS`. */
function withoutRuns(text: string): string {
  let kept = '';
  let start = 0;
  while (start < text.length) {
    const length = runLength(text, start);
    if (length >= MIN_RUN_LENGTH) {
      start += length;
    } else {
      kept += text[start];
      start += 1;
    }
  }
  return kept;
}

/** Returns the length of the longest run that starts at this index. */
function runLength(text: string, start: number): number {
  let longest = 1;
  for (const row of ROWS) {
    for (const step of [-1, 0, 1]) {
      let end = start + 1;
      while (end < text.length && follows(row, text[end - 1], text[end], step)) end += 1;
      longest = Math.max(longest, end - start);
    }
  }
  return longest;
}

/**
 * Returns whether `next` is `step` positions after `previous` in the row, which wraps around. If `step` is 0, they must be
 * equal.
 */
function follows(row: string, previous = '', next = '', step: number): boolean {
  if (step === 0) return previous === next;
  const index = row.indexOf(previous);
  return index >= 0 && row[(index + step + row.length) % row.length] === next;
}
