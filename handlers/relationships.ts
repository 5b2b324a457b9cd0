import type { Handlers } from './context.js';
import { sendRequest } from './friends.js';

export const relationships: Pick<Handlers, 'createRelationship'> = {
  async createRelationship({ caller, query: { me, them } }, app) {
    if (me !== caller.account.id) return { status: 403, body: { message: 'You can act for yourself only.' } };
    return sendRequest(app, me, them);
  },
};
