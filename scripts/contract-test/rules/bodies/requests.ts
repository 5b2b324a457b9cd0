import { type ContractOperation, contract, type RequestContent } from '../../client/index.js';
import { bodyOfType, CHUNKED, contentType, rawForm } from '../../fixtures.js';
import type { TestUsers, User } from '../../users.js';

/** Returns the user of the rules about bodies and parameters. */
export const getBodiesUser = (users: TestUsers) => users.sharedUser('bodies');

/**
 * Returns the sender of a request, who may be anonymous. A logout may end the session of its sender, so each group of
 * `rules` has a separate user for logouts.
 */
export const getSender = async (
  users: TestUsers,
  { id, requiresAuthentication }: ContractOperation,
  rules = 'bodies',
): Promise<Pick<User, 'send'>> => {
  if (!requiresAuthentication) return users.anonymous;
  return id === 'logout' ? users.sharedUser(`${rules} of logout`) : getBodiesUser(users);
};

/** A form with an undocumented field only, so that a form that is wrongly accepted changes nothing. */
export const FORM = rawForm({ name: 'extra', content: '1' });

/** Empty bodies of several types and framings. */
export const EMPTY_BODIES: RequestContent[] = [
  bodyOfType('application/json', ''),
  bodyOfType('multipart/form-data', ''),
  { body: '', headers: CHUNKED },
  { body: '', headers: { ...contentType(';;'), ...CHUNKED } },
];

export const withBody = contract.filter(({ requestBody }) => requestBody);
export const isJson = ({ requestBody }: ContractOperation) => requestBody?.mediaType === 'application/json';
