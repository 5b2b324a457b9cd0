import { randomBytes } from 'node:crypto';
import { styleText } from 'node:util';
import { insertDashes } from './insert-dashes.js';

const base = process.env.BASE_URL || 'http://127.0.0.1:3000';

const MAX_OUTPUT_CHARS = 320;

/** A PNG of one red pixel. */
const PNG_BASE64 = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC';
const PICTURE = new Blob([Buffer.from(PNG_BASE64, 'base64')], { type: 'image/png' });

type Fields = Record<string, string | Blob>;

interface Person {
  name: string;
  username: string;
  email: string;
  password: string;
  id?: number;
  token?: string;
}

interface RequestOptions {
  user?: Person;
  json?: Fields;
  form?: Fields;
}

// biome-ignore lint/suspicious/noExplicitAny: each step knows the shape of its response.
type ResponseBody = any;

class TourFailedError extends Error {
  readonly code = 'tour_failed';
}

let stepCount = 0;

/**
 * Sends a request, prints it with its response, and returns the JSON body.
 *
 * @throws TourFailedError on an unexpected status
 */
async function step(
  title: string,
  expectedStatus: number,
  request: string,
  { user, json, form }: RequestOptions = {},
): Promise<ResponseBody> {
  stepCount += 1;
  console.log(`${String(stepCount).padStart(2)}. ${paint('bold', title)}`);
  console.log(`    ${[request, ...Object.entries({ ...json, ...form }).map(formatField)].join('  ')}`);
  const [method = '', path = ''] = request.split(' ');
  const response = await fetch(new URL(path, base), {
    method,
    headers: {
      ...(user?.token !== undefined && { Authorization: `Bearer ${user.token}` }),
      ...(json && { 'Content-Type': 'application/json' }),
    },
    body: json ? JSON.stringify(json) : form ? formData(form) : null,
    signal: AbortSignal.timeout(10_000),
  }).catch((error: Error) => {
    throw new TourFailedError(
      `No response from ${base}: ${(error.cause as Error | undefined)?.message ?? error.message}`,
    );
  });
  const type = response.headers.get('content-type') ?? '';
  const bytes = Buffer.from(await response.arrayBuffer());
  const text = type.startsWith('application/json') ? bytes.toString() : `${bytes.length} bytes of ${type}`;
  const isExpected = response.status === expectedStatus;
  console.log(
    `    ${paint(isExpected ? 'green' : 'red', String(response.status))}  ${paint('dim', formatBody(text))}\n`,
  );
  if (!isExpected) throw new TourFailedError(`Step ${stepCount}: expected status ${expectedStatus}.`);
  return type.startsWith('application/json') ? JSON.parse(text) : undefined;
}

function paint(style: Parameters<typeof styleText>[0], text: string): string {
  return process.stdout.isTTY ? styleText(style, text) : text;
}

function formatField([name, value]: [string, string | Blob]): string {
  if (name === 'password') return 'password=…';
  return `${name}=${typeof value === 'string' ? value : `(${value.size} bytes of ${value.type})`}`;
}

/** Shortens a body and the token in it. */
function formatBody(body: string): string {
  const text = body.replace(/("token":"[^"]{8})[^"]*/, '$1…');
  return text.length > MAX_OUTPUT_CHARS ? `${text.slice(0, MAX_OUTPUT_CHARS)}…` : text;
}

function formData(fields: Fields): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === 'string') form.append(name, value);
    else form.append(name, value, 'picture.png');
  }
  return form;
}

/** Creates a person with random, unused credentials. */
function createPerson(name: string): Person {
  const username = `${name.toLowerCase()}-${randomBytes(4).toString('hex')}`;
  const password = `Tour!${insertDashes(randomBytes(9).toString('hex'))}`;
  return { name, username, email: `${username}@example.org`, password };
}

async function registerAndLogIn(person: Person): Promise<void> {
  const { name, username, email, password } = person;
  const json = { name, username, email, password };
  person.id = (await step(`${name} registers`, 201, 'POST /auth/register', { json })).id;
  await logIn(person);
}

async function logIn(person: Person): Promise<void> {
  const { name, email, password } = person;
  person.token = (await step(`${name} logs in`, 200, 'POST /auth/login', { json: { email, password } })).token;
}

async function deleteAccount(person: Person): Promise<void> {
  if (person.id === undefined) return;
  if (person.token === undefined) await logIn(person);
  const json = { password: person.password };
  await step(`${person.name} deletes the account and everything in it`, 200, 'DELETE /profiles/me', {
    user: person,
    json,
  });
}

async function runTour(ada: Person, ben: Person): Promise<void> {
  await registerAndLogIn(ada);
  await registerAndLogIn(ben);
  await step('Ada reads her own account', 200, 'GET /auth/me', { user: ada });
  await step('Ada sets a profile picture', 200, 'PUT /profiles/me', { user: ada, form: { image: PICTURE } });
  const post = await step('Ada creates a post with an image', 201, 'POST /posts/create', {
    user: ada,
    form: { title: 'Good morning', text: 'Is anybody here?', image: PICTURE },
  });
  await step('Ben finds the post in his feed', 200, 'GET /posts?limit=1', { user: ben });

  await step('Ada makes her account private', 200, 'PUT /profiles/me', { user: ada, form: { private: 'true' } });
  await step('Ben can no longer see the post', 404, `GET /posts/${post.id}`, { user: ben });
  await step('nor its image', 404, `GET ${post.image}`, { user: ben });
  await step('and only the names in Ada’s profile', 200, `GET /profiles/${ada.id}`, { user: ben });

  await step('Ben sends a friend request', 200, `POST /friends/request?to=${ada.id}`, { user: ben });
  await step('Ada lists her friend requests', 200, 'GET /friends/requests', { user: ada });
  await step('Ada accepts the request', 200, `POST /friends/accept?from=${ben.id}`, { user: ada });
  await step('Ben’s friends include Ada', 200, 'GET /friends', { user: ben });
  await step('and her post is back in his feed', 200, 'GET /posts?limit=1', { user: ben });
  await step('with its image', 200, `GET ${post.image}`, { user: ben });

  await step('Ben likes the post', 200, `POST /posts/like?id=${post.id}`, { user: ben });
  await step('Ada edits it', 200, `PUT /posts/edit?id=${post.id}`, {
    user: ada,
    form: { text: 'Good to see you, Ben.' },
  });
  await step('Ben reads it again, with his like', 200, `GET /posts/${post.id}`, { user: ben });
  await step('Ben unlikes the post', 200, `DELETE /posts/like?id=${post.id}`, { user: ben });
  await step('Ada deletes the post', 200, `DELETE /posts/delete?id=${post.id}`, { user: ada });
  await step('The post no longer exists', 404, `GET /posts/${post.id}`, { user: ada });
  await step('Ada removes Ben from her friends', 200, `DELETE /friends/remove?id=${ben.id}`, { user: ada });
}

const ada = createPerson('Ada');
const ben = createPerson('Ben');

function reportFailure(error: unknown): void {
  process.exitCode = 1;
  console.error(error instanceof TourFailedError ? error.message : error);
}

console.log(`Two people meet at ${base}\n`);
await runTour(ada, ben).catch(reportFailure);
for (const person of [ada, ben]) await deleteAccount(person).catch(reportFailure);
if (!process.exitCode)
  await step('Ada’s token is no longer valid', 401, 'GET /auth/me', { user: ada }).catch(reportFailure);
