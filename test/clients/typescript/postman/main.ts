import { readFile } from 'node:fs/promises';
import newman from 'newman';
import { type Connect, type Result, runScenario } from '../scenario.js';

/* Sends the requests of the collection that Postman imports, with newman, its command line. */

interface Field {
  key: string;
  value?: string;
  src?: string | undefined;
  disabled?: boolean;
}

interface Item {
  name: string;
  /** The items of a folder. */
  item?: Item[];
  request: { url: { query: Field[]; variable: Field[] }; header: Field[]; body?: { raw?: string; formdata?: Field[] } };
}

const collection: { info: { name: string }; item: Item[] } = JSON.parse(
  await readFile('client/collection.json', 'utf8'),
);
const requestsIn = (items: Item[]): Item[] => items.flatMap((item) => (item.item ? requestsIn(item.item) : [item]));
const requests = requestsIn(collection.item);

/** Enters the values into the fields of a request, and disables the other fields, as users of Postman do. */
function fill({ request }: Item, values: Record<string, unknown>): void {
  const { url, header, body } = request;
  const headers = header.filter(({ key }) => !['Accept', 'Content-Type'].includes(key));
  for (const field of [...url.query, ...url.variable, ...headers, ...(body?.formdata ?? [])]) {
    const value = values[field.key];
    field.disabled = value === undefined;
    if (value instanceof Blob) field.src = value.type === 'image/png' ? process.env.PICTURE : process.env.IMAGE;
    else field.value = String(value);
  }
  if (body?.raw) body.raw = JSON.stringify(values);
}

const connect: Connect = (baseUrl, token = '') => {
  const envVar = Object.entries({ baseUrl, bearerToken: token }).map(([key, value]) => ({ key, value }));
  const send = <Body>(name: string, values: Record<string, unknown> = {}) =>
    new Promise<Result<Body>>((resolve, reject) => {
      const item = structuredClone(requests.find((request) => request.name === name));
      if (!item) throw new Error(`There is no request ${name}`);
      fill(item, values);
      newman.run({ collection: { ...collection, item: [item] }, envVar }, (error, summary) => {
        const response = summary?.run.executions[0]?.response;
        if (!response) return reject(error ?? new Error(`${name}: no response`));
        const isJson = response.headers.get('Content-Type')?.startsWith('application/json');
        const body = isJson ? response.json() : new Blob([response.stream as Uint8Array<ArrayBuffer>]);
        resolve(response.code < 400 ? { status: response.code, body } : { status: response.code, error: body });
      });
    });
  return {
    register: (registration) => send('Register an account', registration),
    login: (credentials) => send('Log in', credentials),
    getCurrentAccount: () => send('Get your own account'),
    goPrivate: (image) => send('Update your own profile', { private: true, image }),
    getProfile: (id) => send('Get a profile', { id }),
    deleteAccount: (password) => send('Delete your own account', { password }),
    createPost: (post, key) => send('Create a post', { ...post, 'Idempotency-Key': key }),
    getPost: (id) => send('Get a post', { id }),
    listPosts: (page) => send('List the feed', page),
    downloadImage: (filename) => send("Download a post's image", { filename }),
    sendFriendRequest: (to) => send('Send a friend request', { to }),
    acceptFriendRequest: (from) => send('Accept a friend request', { from }),
  };
};

await runScenario(connect);
