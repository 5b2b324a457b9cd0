import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { styleText } from 'node:util';
import { createCommand, printableError, runCommand } from './support/command.js';
import { insertDashes } from './support/insert-dashes.js';
import { formOf, pngBlob, send } from './support/request.js';

let base = 'http://127.0.0.1:3000';

const MAX_OUTPUT_CHARS = 320;

/** The requests that count against the strict rate limit. */
const STRICT_REQUESTS = ['POST /auth/register', 'POST /auth/login', 'DELETE /profiles/me'];

/** How many strict requests a tour needs: each of its two users sends each of them once. */
const STRICT_REQUEST_COUNT = 2 * STRICT_REQUESTS.length;

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** The time within which a Ctrl-C arrives twice: from the terminal and from npm. */
const REPEATED_SIGNAL_MS = 1000;

/** A PNG of one red pixel. */
const PNG_BASE64 = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC';
const PICTURE = pngBlob(Buffer.from(PNG_BASE64, 'base64'));

type Fields = Record<string, string | Blob>;

interface User {
  name: string;
  username: string;
  email: string;
  password: string;
  id?: number;
  token?: string;
  /** Also true after a registration whose response was lost. */
  mayExist?: boolean;
}

interface RequestOptions {
  user?: User;
  json?: Fields;
  form?: Fields;
}

class TourFailedError extends Error {
  readonly code = 'tour_failed';

  constructor(
    message: string,
    readonly details: { noResponse?: true; retryAfterSeconds?: number } = {},
  ) {
    super(message);
  }
}

function rateLimitError(message: string, retryAfterSeconds: number, isStrict: boolean): TourFailedError {
  const variable = isStrict ? 'RATE_LIMIT_STRICT_MAX' : 'RATE_LIMIT_MAX';
  const advice = `Wait ${retryAfterSeconds} s, or start the service with a higher limit: ${variable}=1000 npm start`;
  return new TourFailedError(`${message} ${advice}`, { retryAfterSeconds });
}

let stepCount = 0;
let interrupted = false;
let deleting = false;

/**
 * Sends a request, prints it with its response, and returns the JSON body and the headers.
 *
 * @throws TourFailedError without a response, on an unexpected status, or after an interruption
 */
async function step(title: string, expectedStatus: number, request: string, options: RequestOptions = {}) {
  if (interrupted && !deleting) throw new TourFailedError('Interrupted.');
  stepCount += 1;
  console.log(`${String(stepCount).padStart(2)}. ${paint('bold', title)}`);
  console.log(`    ${[request, ...Object.entries({ ...options.json, ...options.form }).map(formatField)].join('  ')}`);
  const { status, headers, bytes, json } = await sendOrAdvise(request, options);
  const text = json === undefined ? `${bytes.length} bytes of ${headers.get('content-type') ?? ''}` : bytes.toString();
  const isExpected = status === expectedStatus;
  console.log(`    ${paint(isExpected ? 'green' : 'red', String(status))}  ${paint('dim', formatBody(text))}\n`);
  if (status === 429) {
    throw rateLimitError('Too many requests.', Number(headers.get('retry-after')), STRICT_REQUESTS.includes(request));
  }
  if (!isExpected) throw new TourFailedError(`Step ${stepCount}: expected status ${expectedStatus}.`);
  return { body: json, headers };
}

async function sendOrAdvise(request: string, { user, json, form }: RequestOptions) {
  try {
    const body = form && formOf(form);
    return await send(base, request, { token: user?.token, json, body, signal: AbortSignal.timeout(10_000) });
  } catch (error) {
    const { code, message } = ((error as Error).cause ?? error) as NodeJS.ErrnoException;
    const advice = code === 'ECONNREFUSED' ? 'Start the service first: npm start' : message;
    throw new TourFailedError(`No response from ${base}. ${advice}`, { noResponse: true });
  }
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

/** Creates a user with random, unused credentials. */
function createUser(name: string): User {
  const username = `${name.toLowerCase()}-${randomBytes(4).toString('hex')}`;
  const password = `Tour!${insertDashes(randomBytes(9).toString('hex'))}`;
  return { name, username, email: `${username}@example.org`, password };
}

/**
 * Sends a request that changes nothing, and reads from the response how many strict requests are left. Throws if the tour needs
 * more, so that it creates no accounts that it cannot delete.
 */
async function checkStrictLimit(): Promise<void> {
  const title = 'The response to an invalid request lists all problems';
  const { headers } = await step(title, 400, 'POST /auth/register', { json: {} });
  const remaining = Number(headers.get('x-ratelimit-remaining') ?? STRICT_REQUEST_COUNT);
  if (remaining >= STRICT_REQUEST_COUNT) return;
  const needed = `${STRICT_REQUEST_COUNT} registrations, logins and account deletions`;
  const message = `The tour needs ${needed}, and ${remaining} are left.`;
  throw rateLimitError(message, Number(headers.get('x-ratelimit-reset')), true);
}

async function registerAndLogIn(user: User): Promise<void> {
  const { name, username, email, password } = user;
  const json = { name, username, email, password };
  try {
    user.id = (await step(`${name} registers`, 201, 'POST /auth/register', { json })).body.id;
    user.mayExist = true;
  } catch (error) {
    user.mayExist = error instanceof TourFailedError && error.details.noResponse === true;
    throw error;
  }
  await logIn(user);
}

async function logIn(user: User): Promise<void> {
  const { name, email, password } = user;
  user.token = (await step(`${name} logs in`, 200, 'POST /auth/login', { json: { email, password } })).body.token;
}

async function deleteAccount(user: User): Promise<void> {
  if (!user.mayExist) return;
  if (user.token === undefined) await logIn(user);
  const { name, password } = user;
  const title = `${name} deletes the account and everything in it`;
  await step(title, 200, 'DELETE /profiles/me', { user, json: { password } });
}

/** Repeats an attempt to delete an account until the rate limit allows it. */
async function retryWhileLimited(attempt: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      const { retryAfterSeconds } = error instanceof TourFailedError ? error.details : {};
      if (retryAfterSeconds === undefined) throw error;
      console.error(`Waiting ${retryAfterSeconds} s until the accounts can be deleted. Ctrl-C leaves them.`);
      await sleep(REPEATED_SIGNAL_MS);
      // From now on, Ctrl-C ends the process.
      for (const signal of SIGNALS) process.removeAllListeners(signal);
      await sleep(retryAfterSeconds * 1000);
    }
  }
}

async function runTour(ada: User, ben: User): Promise<void> {
  await checkStrictLimit();
  await registerAndLogIn(ada);
  await registerAndLogIn(ben);
  await step('Ada reads her own account', 200, 'GET /auth/me', { user: ada });
  await step('Ada sets a profile picture', 200, 'PUT /profiles/me', { user: ada, form: { image: PICTURE } });
  const { body: post } = await step('Ada creates a post with an image', 201, 'POST /posts/create', {
    user: ada,
    form: { title: 'Good morning', text: 'Is anybody here?', image: PICTURE },
  });
  await step('Ben finds the post in his feed', 200, 'GET /posts?limit=1', { user: ben });

  await step('Ada makes her account private', 200, 'PUT /profiles/me', { user: ada, form: { private: 'true' } });
  await step('Ben can no longer see the post', 404, `GET /posts/${post.id}`, { user: ben });
  await step('Ben can no longer see its image', 404, `GET ${post.image}`, { user: ben });
  await step('Ben sees only the names in Ada’s profile', 200, `GET /profiles/${ada.id}`, { user: ben });

  await step('Ben sends a friend request', 200, `POST /friends/request?to=${ada.id}`, { user: ben });
  await step('Ada lists her friend requests', 200, 'GET /friends/requests', { user: ada });
  await step('Ada accepts the request', 200, `POST /friends/accept?from=${ben.id}`, { user: ada });
  await step('Ben’s friends include Ada', 200, 'GET /friends', { user: ben });
  await step('Ben finds her post in his feed again', 200, 'GET /posts?limit=1', { user: ben });
  await step('Ben can see its image again', 200, `GET ${post.image}`, { user: ben });

  await step('Ben likes the post', 200, `POST /posts/like?id=${post.id}`, { user: ben });
  await step('Ada edits the post', 200, `PUT /posts/edit?id=${post.id}`, {
    user: ada,
    form: { text: 'Good to see you, Ben.' },
  });
  await step('Ben reads the post again, with his like', 200, `GET /posts/${post.id}`, { user: ben });
  await step('Ben unlikes the post', 200, `DELETE /posts/like?id=${post.id}`, { user: ben });
  await step('Ada creates another post', 201, 'POST /posts/create', {
    user: ada,
    form: { title: 'Good night', text: 'Bye.' },
  });
  const { headers } = await step('Ada lists her newest post', 200, 'GET /posts/me?limit=1', { user: ada });
  const [, next = ''] = /^<([^>]+)>/.exec(headers.get('link') ?? '') ?? [];
  await step('Ada follows the Link to the next page', 200, `GET ${next}`, { user: ada });
  await step('Ada deletes the post', 200, `DELETE /posts/delete?id=${post.id}`, { user: ada });
  await step('The post no longer exists', 404, `GET /posts/${post.id}`, { user: ada });
  await step('Ada removes Ben from her friends', 200, `DELETE /friends/remove?id=${ben.id}`, { user: ada });
}

const ada = createUser('Ada');
const ben = createUser('Ben');

function reportFailure(error: unknown): void {
  process.exitCode = 1;
  console.error(printableError(error));
}

async function run({ baseUrl }: { baseUrl: string }): Promise<void> {
  base = baseUrl;
  const interrupt = () => {
    interrupted = true;
  };
  for (const signal of SIGNALS) process.on(signal, interrupt);
  // A program that reads the output, such as `head`, may exit early.
  for (const output of [process.stdout, process.stderr]) output.on('error', interrupt);

  console.log(`Two people meet at ${base}\n`);
  await runTour(ada, ben).catch(reportFailure);
  deleting = true;
  for (const user of [ada, ben]) await retryWhileLimited(() => deleteAccount(user)).catch(reportFailure);
  if (process.exitCode) return;
  await step('Ada’s token is no longer valid', 401, 'GET /auth/me', { user: ada });
  console.log(`Next: send requests from the browser, at ${new URL('/docs', base)}`);
}

await runCommand(
  createCommand('tour', 'Shows the operations of a running service: two people meet, and delete their accounts again.')
    .option('--base-url <url>', 'the address of the service', base)
    .action(run),
);
