import type { CheckedResponse } from '../../client/index.js';
import { expectEqual, type FieldProblem } from '../../expect.js';
import { type Post, publish, textForm, WRONG_PASSWORD } from '../../fixtures.js';
import type { TestUsers, User } from '../../users.js';
import { updatedUser } from './users.js';
import type { Field } from './values.js';

/** The response to valid values, and the values that were read afterwards. */
export interface ValidResult {
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
  sendInvalid(users: TestUsers, values: Record<string, string>): Promise<CheckedResponse>;
  sendValid(users: TestUsers, values: Record<string, string>): Promise<ValidResult>;
}

const ACCOUNT_FIELDS = ['name', 'username', 'email', 'password'] as const;

/** Returns whether an error of the response names this field of the body. */
export const namesField = ({ body }: CheckedResponse, field: string) =>
  (body?.errors ?? []).some((problem: FieldProblem) => problem.in === 'body' && problem.field === field);

/** The result if the service did not accept the values. */
const notStored = (response: CheckedResponse): ValidResult => ({ response, stored: {}, readResponse: response });

/** Returns the response to GET /auth/me. Checks that GET /auth/verify returns the same account. */
async function readAccount({ send }: Pick<User, 'send'>): Promise<CheckedResponse> {
  const response = await send([200, 401], 'GET /auth/me');
  const verified = await send([200, 401], 'GET /auth/verify');
  expectEqual(verified, 'the account, as GET /auth/me shows it', verified.body, response.body);
  return response;
}

/** Returns the post that the rules edit, and its author. */
const editedPost = (users: TestUsers) =>
  users.shared('edited post', async () => {
    const author = await users.register();
    return { author, post: await publish(author) };
  });

/**
 * Reads a post that was just created or edited, and returns the response. Checks that this response and the author's list
 * contain the same post as `body`, the body of the response to the creation or edit.
 */
async function readPost({ send }: User, { body }: CheckedResponse): Promise<CheckedResponse> {
  const response = await send(200, `GET /posts/${body.id}`);
  expectEqual(response, 'the post, as it was stored', response.body, { ...body, comments: [] });
  const { comments, ...post } = response.body;
  const list = await send(200, 'GET /posts/me?limit=100');
  const listed = list.body.find((entry: Post) => entry.id === body.id);
  expectEqual(list, 'the post in the list', listed, post);
  return response;
}

const postEndpoint = (id: string, title: string, creates: boolean): Endpoint => {
  const send = async (users: TestUsers, values: Record<string, string>) => {
    const { author, post } = await editedPost(users);
    const request = creates ? title : `${title}?id=${post.id}`;
    return author.send([creates ? 201 : 200, 400], request, textForm(values));
  };
  return {
    id,
    title,
    creates,
    fields: ['title', 'text'],
    sendInvalid: send,
    async sendValid(users, values) {
      const response = await send(users, creates ? { title: 'A title', text: 'A text', ...values } : values);
      if (response.status === 400) return notStored(response);
      const readResponse = await readPost((await editedPost(users)).author, response);
      return { response, stored: readResponse.body, readResponse };
    },
  };
};

export const ENDPOINTS: Endpoint[] = [
  {
    id: 'register',
    title: 'POST /auth/register',
    creates: true,
    fields: ACCOUNT_FIELDS,
    sendInvalid: ({ anonymous }, values) => anonymous.send([201, 400, 409], 'POST /auth/register', { json: values }),
    async sendValid({ anonymous, newUser }, values) {
      const json = { ...newUser(), ...values };
      const { email, password } = json;
      const response = await anonymous.send([201, 400, 409], 'POST /auth/register', { json });
      if (response.status !== 201) return notStored(response);
      const login = await anonymous.send([200, 400, 401], 'POST /auth/login', { json: { email, password } });
      const readResponse = await anonymous.send([200, 401], 'GET /auth/me', { token: login.body?.token });
      // A successful login shows that the password was stored as it was sent.
      return { response, stored: { ...readResponse.body, password: login.status === 200 && password }, readResponse };
    },
  },
  {
    id: 'update',
    title: 'PUT /profiles/me',
    creates: false,
    fields: ACCOUNT_FIELDS,
    async sendInvalid(users, values) {
      const { send } = await updatedUser(users);
      // The wrong current_password prevents changes even if all fields are wrongly accepted.
      return send([400, 401], 'PUT /profiles/me', textForm({ ...values, current_password: WRONG_PASSWORD }));
    },
    async sendValid(users, { password, ...values }) {
      const user = await updatedUser(users);
      if (password !== undefined) {
        // Two invalid fields prevent the change, even if the service accepts one of them.
        const form = textForm({ password, current_password: user.password, name: ' ', private: 'maybe' });
        const response = await user.send(400, 'PUT /profiles/me', form);
        if (namesField(response, 'password')) return notStored(response);
      }
      // An accepted password was not stored, so it cannot be verified. The results contain it as it was sent.
      if (Object.keys(values).length === 0) {
        const readResponse = await readAccount(user);
        return { response: readResponse, stored: { password }, readResponse };
      }
      const response = await user.send([200, 400, 409], 'PUT /profiles/me', textForm(values));
      const readResponse = await readAccount(user);
      const profile = (await user.send(200, 'GET /profiles/me')).body;
      if (response.status === 200) expectEqual(response, 'the profile, as GET shows it', response.body, profile);
      return { response, stored: { password, ...readResponse.body }, readResponse };
    },
  },
  postEndpoint('create', 'POST /posts/create', true),
  postEndpoint('edit', 'PUT /posts/edit', false),
];
