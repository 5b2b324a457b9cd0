import { randomBytes } from 'node:crypto';
import { styleText } from 'node:util';
import { inPairs } from './pairs.js';

const base = process.env.BASE_URL || 'http://127.0.0.1:3000';

/** How much of an answer is printed. */
const WIDTH = 320;

/** One red pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC';
const PICTURE = new Blob([Buffer.from(PNG, 'base64')], { type: 'image/png' });

type Fields = Record<string, string | Blob>;

interface Person {
  name: string;
  username: string;
  email: string;
  password: string;
  id?: number;
  token?: string;
}

interface Ask {
  by?: Person;
  json?: Fields;
  form?: Fields;
}

// biome-ignore lint/suspicious/noExplicitAny: each step knows what it has asked for.
type Answer = any;

class TourEnded extends Error {}

let steps = 0;

/** Asks, prints what was asked and answered, and ends the tour unless the status is the expected one. */
async function step(title: string, expected: number, request: string, { by, json, form }: Ask = {}): Promise<Answer> {
  steps += 1;
  console.log(`${String(steps).padStart(2)}. ${paint('bold', title)}`);
  console.log(`    ${[request, ...Object.entries({ ...json, ...form }).map(shown)].join('  ')}`);
  const [method = '', path = ''] = request.split(' ');
  const response = await fetch(new URL(path, base), {
    method,
    headers: {
      ...(by?.token !== undefined && { Authorization: `Bearer ${by.token}` }),
      ...(json && { 'Content-Type': 'application/json' }),
    },
    body: json ? JSON.stringify(json) : form ? formData(form) : null,
    signal: AbortSignal.timeout(10_000),
  }).catch((error: Error) => {
    throw new TourEnded(`No answer from ${base}: ${(error.cause as Error | undefined)?.message ?? error.message}`);
  });
  const type = response.headers.get('content-type') ?? '';
  const bytes = Buffer.from(await response.arrayBuffer());
  const text = type.startsWith('application/json') ? bytes.toString() : `${bytes.length} bytes of ${type}`;
  const asExpected = response.status === expected;
  console.log(
    `    ${paint(asExpected ? 'green' : 'red', String(response.status))}  ${paint('dim', shortened(text))}\n`,
  );
  if (!asExpected) throw new TourEnded(`Step ${steps} should have answered ${expected}.`);
  return type.startsWith('application/json') ? JSON.parse(text) : undefined;
}

function paint(style: Parameters<typeof styleText>[0], text: string): string {
  return process.stdout.isTTY ? styleText(style, text) : text;
}

function shown([name, value]: [string, string | Blob]): string {
  if (name === 'password') return 'password=…';
  return `${name}=${typeof value === 'string' ? value : `(${value.size} bytes of ${value.type})`}`;
}

function shortened(json: string): string {
  const text = json.replace(/("token":"[^"]{8})[^"]*/, '$1…');
  return text.length > WIDTH ? `${text.slice(0, WIDTH)}…` : text;
}

function formData(fields: Fields): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === 'string') form.append(name, value);
    else form.append(name, value, 'picture.png');
  }
  return form;
}

/** Somebody whom no service knows yet. */
function newcomer(name: string): Person {
  const username = `${name.toLowerCase()}-${randomBytes(4).toString('hex')}`;
  const password = `Tour!${inPairs(randomBytes(9).toString('hex'))}`;
  return { name, username, email: `${username}@example.org`, password };
}

async function arrive(person: Person): Promise<void> {
  const { name, username, email, password } = person;
  const json = { name, username, email, password };
  person.id = (await step(`${name} registers`, 201, 'POST /auth/register', { json })).id;
  await logIn(person);
}

async function logIn(person: Person): Promise<void> {
  const { name, email, password } = person;
  person.token = (await step(`${name} logs in`, 200, 'POST /auth/login', { json: { email, password } })).token;
}

async function leave(person: Person): Promise<void> {
  if (person.id === undefined) return;
  if (person.token === undefined) await logIn(person);
  const json = { password: person.password };
  await step(`${person.name} deletes the account, and all that belongs to it`, 200, 'DELETE /profiles/me', {
    by: person,
    json,
  });
}

async function meet(ada: Person, ben: Person): Promise<void> {
  await arrive(ada);
  await arrive(ben);
  await step('Ada is known by her token', 200, 'GET /auth/me', { by: ada });
  await step('Ada takes a picture', 200, 'PUT /profiles/me', { by: ada, form: { image: PICTURE } });
  const post = await step('Ada posts, with an image', 201, 'POST /posts/create', {
    by: ada,
    form: { title: 'Good morning', text: 'Is anybody here?', image: PICTURE },
  });
  await step('Ben finds the post in his feed', 200, 'GET /posts?limit=1', { by: ben });

  await step('Ada goes private', 200, 'PUT /profiles/me', { by: ada, form: { private: 'true' } });
  await step('To Ben the post does not exist now', 404, `GET /posts/${post.id}`, { by: ben });
  await step('nor does its image', 404, `GET ${post.image}`, { by: ben });
  await step('and of Ada he sees no more than her names', 200, `GET /profiles/${ada.id}`, { by: ben });

  await step('Ben asks to be friends', 200, `POST /friends/request?to=${ada.id}`, { by: ben });
  await step('Ada looks who has asked', 200, 'GET /friends/requests', { by: ada });
  await step('Ada accepts', 200, `POST /friends/accept?from=${ben.id}`, { by: ada });
  await step('Ada is among Ben’s friends', 200, 'GET /friends', { by: ben });
  await step('and her post is back in his feed', 200, 'GET /posts?limit=1', { by: ben });
  await step('with its image', 200, `GET ${post.image}`, { by: ben });

  await step('Ben likes the post', 200, `POST /posts/like?id=${post.id}`, { by: ben });
  await step('Ada edits it', 200, `PUT /posts/edit?id=${post.id}`, {
    by: ada,
    form: { text: 'Good to see you, Ben.' },
  });
  await step('Ben reads it again: it has his like', 200, `GET /posts/${post.id}`, { by: ben });
  await step('Ben takes his like back', 200, `DELETE /posts/like?id=${post.id}`, { by: ben });
  await step('Ada deletes the post', 200, `DELETE /posts/delete?id=${post.id}`, { by: ada });
  await step('It is gone for everybody', 404, `GET /posts/${post.id}`, { by: ada });
  await step('Ada ends the friendship', 200, `DELETE /friends/remove?id=${ben.id}`, { by: ada });
}

const ada = newcomer('Ada');
const ben = newcomer('Ben');

function fail(error: unknown): void {
  process.exitCode = 1;
  console.error(error instanceof TourEnded ? error.message : error);
}

console.log(`Two people meet at ${base}\n`);
await meet(ada, ben).catch(fail);
for (const person of [ada, ben]) await leave(person).catch(fail);
if (!process.exitCode) await step('Ada’s token is worth nothing now', 401, 'GET /auth/me', { by: ada }).catch(fail);
