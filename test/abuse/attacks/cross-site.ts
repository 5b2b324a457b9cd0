import { type Attack, noErrors } from '../attack.js';
import { statusOf } from '../client.js';

const VISITOR = '127.6.0.1';
const FORMS = 20;
const IMAGES = 300;

/** A page of another site that tries to use up the rate limits of its visitors. */
export const crossSite: Attack = {
  name: 'cross-site',
  title: '20 forms and 300 images requested by a page of another site',
  async run(target, { honest }) {
    const imageHeaders = { 'Sec-Fetch-Site': 'cross-site' };
    const formHeaders = { ...imageHeaders, Origin: 'https://hostile.example', 'Content-Type': 'text/plain' };
    const { signal } = target;
    for (let count = 0; count < FORMS; count++) {
      await statusOf(target.send('POST', '/auth/login', { from: VISITOR, headers: formHeaders, signal }));
    }
    for (let count = 0; count < IMAGES; count++) {
      await statusOf(target.send('GET', '/posts', { from: VISITOR, headers: imageHeaders, signal }));
    }
    const { email, password, token } = honest;
    const login = await statusOf(target.send('POST', '/auth/login', { from: VISITOR, json: { email, password } }));
    const me = await statusOf(target.send('GET', '/auth/me', { from: VISITOR, token }));
    return [
      { name: "the visitor's login refused", value: Number(login !== 200), atMost: 0 },
      { name: "the visitor's requests refused", value: Number(me !== 200), atMost: 0 },
    ];
  },
  evaluate: (measured) => [noErrors(measured)],
};
