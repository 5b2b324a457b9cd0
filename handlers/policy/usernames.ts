import type { FieldCode } from '../error-codes.js';
import { AN_INVISIBLE } from './texts.js';

const WHITE_SPACE = /\p{White_Space}/gu;

/**
 * Returns the codes of the character rules that a username breaks. Covers all of Unicode; the pattern of the schema covers only
 * Latin-1.
 */
export function usernameProblems(username: string): FieldCode[] {
  const visible = username.replace(WHITE_SPACE, '');
  return [
    ...(visible === username ? [] : (['whitespace'] as const)),
    ...(AN_INVISIBLE.test(visible) ? (['invisible_characters'] as const) : []),
  ];
}
