import { randomBytes } from 'node:crypto';
import type { OperationId } from '../generated/handlers.js';
import type { ContractOperation } from '../scripts/contract-test/document.js';
import { samples } from '../scripts/contract-test/images.js';
import { type Answer, PASSWORD, type TestService } from './harness.js';

export type Fields = Record<string, unknown>;

/** A request that its operation answers with success. */
export interface Scene {
  operation: ContractOperation;
  token: string | undefined;
  /** With its query. */
  path: string;
  /** The body's fields, where there is a body. */
  fields: Fields | undefined;
}

/** What the document's examples cannot know: who and what there is. */
interface Props {
  token?: string;
  path?: Record<string, string | number>;
  query?: Record<string, number>;
  /** Stand in for the example's fields of the same names. */
  fields?: Record<string, string>;
}

export interface Stage {
  /** Arranges all that the operation needs, and answers a request made of the document's example of this name, or its first. */
  set(operation: ContractOperation, example?: string): Promise<Scene>;
  ask(scene: Scene, more?: { query?: string; fields?: Fields }): Promise<Answer>;
  /** The operations that somebody has written a scene for. */
  operations: string[];
}

const somebody = () => {
  const username = `u${randomBytes(6).toString('hex')}`;
  return { username, email: `${username}@people.example` };
};

/** A cast of two, and a scene for every operation. */
export async function openStage(service: TestService): Promise<Stage> {
  const mira = await service.person({ name: 'Mira' });
  const tomas = await service.person({ name: 'Tomas' });
  const image = { blob: new Blob([samples.png], { type: 'image/png' }), name: 'a.png' };
  const { body: pictured } = await mira.ask('PUT', '/profiles/me', { form: { image } });
  const post = async (form = {}) =>
    (await mira.ask('POST', '/posts/create', { form: { title: 'A title', text: 'A text', ...form } })).body;
  const imaged = await post({ image });

  const to = { query: { to: tomas.id } };
  const from = { query: { from: tomas.id } };
  const strangers = async () => {
    await mira.ask('DELETE', `/friends/remove?id=${tomas.id}`);
    await mira.ask('POST', `/friends/cancel?to=${tomas.id}`);
    await mira.ask('POST', `/friends/decline?from=${tomas.id}`);
  };
  const asked = async () => {
    await strangers();
    await tomas.ask('POST', `/friends/request?to=${mira.id}`);
  };
  const asking = async () => {
    await strangers();
    await mira.ask('POST', `/friends/request?to=${tomas.id}`);
  };
  const friends = async () => {
    await asked();
    await mira.ask('POST', `/friends/accept?from=${tomas.id}`);
  };
  const nothing = async () => ({});
  const aPost = async () => ({ query: { id: imaged.id } });

  const props: Record<OperationId, () => Promise<Props>> = {
    register: async () => ({ fields: somebody() }),
    login: async () => ({ fields: { email: mira.email, password: PASSWORD } }),
    getCurrentAccount: nothing,
    verifySession: nothing,
    logout: async () => ({ token: await service.login(mira.email) }),
    listSessions: nothing,
    deleteOtherSessions: nothing,
    deleteSession: async () => ({ path: { id: sessionOf(await service.login(mira.email)) } }),
    getOwnProfile: nothing,
    updateProfile: async () => ({ token: (await service.person()).token, fields: { current_password: PASSWORD } }),
    deleteAccount: async () => ({ token: (await service.person()).token, fields: { password: PASSWORD } }),
    getProfile: async () => ({ path: { id: tomas.id } }),
    getProfileImage: async () => ({ path: { filename: pictured.profile_link.split('/').at(-1) } }),
    listPosts: nothing,
    listOwnPosts: nothing,
    getPost: async () => ({ path: { id: imaged.id } }),
    getPostImage: async () => ({ path: { filename: imaged.image.split('/').at(-1) } }),
    createPost: nothing,
    editPost: async () => ({ query: { id: (await post()).id } }),
    deletePost: async () => ({ query: { id: (await post()).id } }),
    likePost: aPost,
    unlikePost: aPost,
    listFriends: nothing,
    listFriendRequests: nothing,
    sendFriendRequest: () => strangers().then(() => to),
    acceptFriendRequest: () => asked().then(() => from),
    declineFriendRequest: () => asked().then(() => from),
    cancelFriendRequest: () => asking().then(() => to),
    removeFriend: () => friends().then(() => ({ query: { id: tomas.id } })),
    createRelationship: () => strangers().then(() => ({ query: { me: mira.id, them: tomas.id } })),
  };

  return {
    operations: Object.keys(props),

    async set(operation, example) {
      const { token = mira.token, path = {}, query = {}, fields = {} } = await props[operation.id as OperationId]();
      const parameters = operation.query.map(({ name, example }) => `${name}=${query[name] ?? example}`);
      const examples = operation.requestBody?.examples ?? {};
      const { value } = examples[example ?? Object.keys(examples)[0] ?? ''] ?? {};
      return {
        operation,
        token: operation.secured ? token : undefined,
        path: [
          operation.path.replace(/\{(\w+)\}/g, (_, name) => String(path[name])),
          ...(parameters.length > 0 ? [parameters.join('&')] : []),
        ].join('?'),
        fields: value && Object.fromEntries(Object.entries(value).map(([name, v]) => [name, fields[name] ?? v])),
      };
    },

    ask(scene, { query, fields } = {}) {
      const { operation, token, path } = scene;
      const sent = scene.fields && { ...scene.fields, ...fields };
      return service.ask(operation.method, withQuery(path, query), {
        ...(token !== undefined && { token }),
        ...(sent && (isForm(operation) ? { form: asText(sent) } : { json: sent })),
      });
    },
  };
}

export const isForm = ({ requestBody }: ContractOperation): boolean => requestBody?.mediaType === 'multipart/form-data';

/** The path with more query. */
export const withQuery = (path: string, more: string | undefined): string =>
  more === undefined ? path : `${path}${path.includes('?') ? '&' : '?'}${more}`;

/** As a form holds it. */
export const asText = (fields: Fields): Record<string, string> =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]));

/** RFC 7519: the second part of a token holds its claims. */
const sessionOf = (token: string): string =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).jti;
