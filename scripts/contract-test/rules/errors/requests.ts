import type { ContractOperation, RequestContent } from '../../client/index.js';
import { contentType } from '../../fixtures.js';
import type { TestUsers } from '../../users.js';
import { userRules } from '../user-rule.js';

const USER_KEY = 'rejected requests';

/** Returns a user without content, whom only the rules of this folder use. */
export const getErrorsUser = (users: TestUsers) => users.sharedUser(USER_KEY);

/** Creates a rule whose check gets this user. */
export const userRule = userRules(USER_KEY);

/** Returns a request body of a media type that no operation accepts. */
export const textBody = (headers: Record<string, string> = {}): RequestContent => ({
  body: 'hello',
  headers: { ...contentType('text/plain'), ...headers },
});

export const isSafe = ({ method }: ContractOperation) => method === 'GET';

/** An undocumented parameter: the response is 400 unless another check rejects the request first. */
export const UNKNOWN_QUERY = ['page=1'];
