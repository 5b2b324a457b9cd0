import { expectProblems } from '../../expect.js';
import { type Rule, rule } from '../../rule.js';
import { unusualUser } from './users.js';

export const loginFieldRules: Rule[] = [
  rule(
    'login.email.normalized',
    'POST /auth/login trims and lowercases the email. An address that differs in any other way returns 401, and one that contains NUL returns 400.',
    async (users) => {
      const { email, password } = await unusualUser(users);
      const login = (status: number, changed: string) =>
        users.anonymous.send(status, 'POST /auth/login', { json: { email: changed, password } });
      for (const same of [email.toUpperCase(), ` ${email}`, `${email}\n`, `\t ${email} \u00a0`]) await login(200, same);
      const others = [email.replace('@', ' @'), `${email}.`, `${email}x`, email.replace('@', '+x@'), 'plain', ''];
      for (const other of others) await login(401, other);
      expectProblems(await login(400, `${email}\0`), 'body.email');
    },
  ),

  rule(
    'login.fields',
    'POST /auth/login requires the strings email and password. Other fields and other types return 400, and the response names them.',
    async (users) => {
      const { email, password } = await unusualUser(users);
      for (const [json, ...named] of [
        [{ email }, 'password'],
        [{ password }, 'email'],
        [{}, 'email', 'password'],
        [{ email, password, username: 'x' }, 'username'],
        [{ email, password, Password: 'x' }, 'Password'],
        [{ email: [email], password }, 'email'],
        [{ email, password: { $ne: '' } }, 'password'],
        [{ email: null, password: 12 }, 'email', 'password'],
        [{ email: true, password: null }, 'email', 'password'],
        [{ email: `${email}\0`, password: `${password}\udc00` }, 'email', 'password'],
        [{ email: `${email}\ud800`, password }, 'email'],
      ] as [object, ...string[]][]) {
        const response = await users.anonymous.send(400, 'POST /auth/login', { json });
        expectProblems(response, ...named.map((field) => `body.${field}`));
      }
    },
  ),
];
