import t from 'tap';
import { usernameProblems } from '../handlers/usernames.js';

const FORMAT = 'The username must not contain invisible format characters.';

t.test('usernames', async (t) => {
  for (const username of ['jo', 'Jo.Ann-77_x', 'José', 'Jose\u0301', '日本', '😀', '👍🏽', '𝐣𝐨', '']) {
    t.same(usernameProblems(username), [], username);
  }
});

t.test('format characters, beyond the BMP too', async (t) => {
  for (const character of ['\u{e0001}', '\u{e0067}', '\u{1d173}', '\u{1bca0}', '\u{110bd}', '\u{13430}', '\u200b']) {
    t.same(usernameProblems(`jo${character}ann`), [FORMAT], `U+${character.codePointAt(0)?.toString(16)}`);
  }
});
