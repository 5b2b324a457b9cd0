import type { CheckedResponse } from '../../exchange.js';
import { expectEqual } from '../../expect.js';
import { type Post, publish, textForm, WRONG_PASSWORD } from '../../fixtures.js';
import type { TestUsers, User } from '../../users.js';
import { updatedUser } from './users.js';
import { FIELDS, type Field } from './values.js';

/** Returns the invalid values with this index. A field with fewer values repeats them. */
const invalidForm = (fields: readonly Field[], index: number): Partial<Record<Field, string>> =>
  Object.fromEntries(fields.map((field) => [field, FIELDS[field].invalid[index % FIELDS[field].invalid.length]]));

/** A value to send, and the value that must be stored. */
export interface Sample {
  field: Field;
  sent: string;
  expected: string;
}

/** The response to valid values, and the values that were read afterwards. */
export interface ValidResult {
  samples: Sample[];
  response: CheckedResponse;
  stored: Partial<Record<Field, unknown>>;
  readResponse: CheckedResponse;
}

/** An operation that accepts fields, with ways to send invalid and valid values. */
export interface Endpoint {
  id: string;
  title: string;
  /** Whether each request creates a new resource, so that requests can be sent concurrently. */
  creates: boolean;
  fields: readonly Field[];
  sendInvalid(users: TestUsers, index: number): Promise<CheckedResponse>;
  sendValid(users: TestUsers, samples: Sample[]): Promise<ValidResult>;
}

const sentFields = (samples: Sample[]) => Object.fromEntries(samples.map(({ field, sent }) => [field, sent]));

const ACCOUNT_FIELDS = ['name', 'username', 'email', 'password'] as const;
const POST_TEXT_FIELDS = ['title', 'text'] as const;

/** Returns the response to GET /auth/me. Checks that GET /auth/verify returns the same account. */
async function readAccount({ send }: Pick<User, 'send'>): Promise<CheckedResponse> {
  const response = await send([200, 401], 'GET /auth/me');
  const verified = await send([200, 401], 'GET /auth/verify');
  expectEqual(verified, 'the account, as GET /auth/me shows it', verified.body, response.body);
  return response;
}

const editedPost = (users: TestUsers) =>
  users.shared('edited post', async () => {
    const author = await users.register();
    return { author, post: await publish(author) };
  });

/** Returns the response to GET of a post. Checks that the list of the author shows the same post. */
const readPost = async (author: User, id: number): Promise<CheckedResponse> => {
  const response = await author.send(200, `GET /posts/${id}`);
  const list = await author.send(200, 'GET /posts/me?limit=100');
  const { comments, ...post } = response.body;
  expectEqual(
    list,
    'the post in the list',
    list.body.find((entry: Post) => entry.id === id),
    post,
  );
  return response;
};

export const ENDPOINTS: Endpoint[] = [
  {
    id: 'register',
    title: 'POST /auth/register',
    creates: true,
    fields: ACCOUNT_FIELDS,
    sendInvalid: (users, index) =>
      users.anonymous.send([201, 400, 409], 'POST /auth/register', { json: invalidForm(ACCOUNT_FIELDS, index) }),
    async sendValid(users, samples) {
      const identity = { ...users.newUser(), ...sentFields(samples) };
      const response = await users.anonymous.send([201, 400, 409], 'POST /auth/register', { json: identity });
      if (response.status !== 201) return { samples, response, stored: {}, readResponse: response };
      const login = await users.anonymous.send([200, 400, 401], 'POST /auth/login', {
        json: { email: identity.email, password: identity.password },
      });
      const readResponse = await users.anonymous.send([200, 401], 'GET /auth/me', { token: login.body?.token });
      // A successful login shows that the password is valid as it was sent.
      return {
        samples,
        response,
        stored: { ...readResponse.body, password: login.status === 200 && identity.password },
        readResponse,
      };
    },
  },
  {
    id: 'update',
    title: 'PUT /profiles/me',
    creates: false,
    fields: ACCOUNT_FIELDS,
    async sendInvalid(users, index) {
      const { send } = await updatedUser(users);
      // The wrong current_password prevents changes even if all fields are wrongly accepted.
      const fields = { ...invalidForm(ACCOUNT_FIELDS, index), current_password: WRONG_PASSWORD };
      return send([400, 401], 'PUT /profiles/me', textForm(fields as Record<string, string>));
    },
    async sendValid(users, samples) {
      const user = await updatedUser(users);
      const fields = sentFields(samples);
      if (fields.password !== undefined) {
        // With a wrong `current_password`, a valid password returns 401 and changes nothing.
        const form = textForm({ password: fields.password, current_password: WRONG_PASSWORD });
        const response = await user.send([400, 401], 'PUT /profiles/me', form);
        if (response.status === 400) return { samples, response, stored: {}, readResponse: response };
        delete fields.password;
      }
      if (Object.keys(fields).length === 0) {
        const readResponse = await readAccount(user);
        return { samples, response: readResponse, stored: sentFields(samples), readResponse };
      }
      const response = await user.send([200, 400, 409], 'PUT /profiles/me', textForm(fields));
      const readResponse = await readAccount(user);
      const profile = (await user.send(200, 'GET /profiles/me')).body;
      if (response.status === 200) expectEqual(response, 'the profile, as GET shows it', response.body, profile);
      return { samples, response, stored: { ...sentFields(samples), ...readResponse.body }, readResponse };
    },
  },
  {
    id: 'create',
    title: 'POST /posts/create',
    creates: true,
    fields: POST_TEXT_FIELDS,
    async sendInvalid(users, index) {
      const { author } = await editedPost(users);
      return author.send(
        [201, 400],
        'POST /posts/create',
        textForm(invalidForm(POST_TEXT_FIELDS, index) as Record<string, string>),
      );
    },
    async sendValid(users, samples) {
      const { author } = await editedPost(users);
      const fields = { title: 'A title', text: 'A text', ...sentFields(samples) };
      const response = await author.send([201, 400], 'POST /posts/create', textForm(fields));
      if (response.status !== 201) return { samples, response, stored: {}, readResponse: response };
      const readResponse = await readPost(author, response.body.id);
      expectEqual(readResponse, 'the post, as it was created', readResponse.body, { ...response.body, comments: [] });
      return { samples, response, stored: readResponse.body, readResponse };
    },
  },
  {
    id: 'edit',
    title: 'PUT /posts/edit',
    creates: false,
    fields: POST_TEXT_FIELDS,
    async sendInvalid(users, index) {
      const { author, post } = await editedPost(users);
      const form = textForm(invalidForm(POST_TEXT_FIELDS, index) as Record<string, string>);
      return author.send([200, 400], `PUT /posts/edit?id=${post.id}`, form);
    },
    async sendValid(users, samples) {
      const { author, post } = await editedPost(users);
      const response = await author.send([200, 400], `PUT /posts/edit?id=${post.id}`, textForm(sentFields(samples)));
      const readResponse = await readPost(author, post.id);
      if (response.status === 200)
        expectEqual(readResponse, 'the post, as it was edited', readResponse.body, { ...response.body, comments: [] });
      return { samples, response, stored: readResponse.body, readResponse };
    },
  },
];
