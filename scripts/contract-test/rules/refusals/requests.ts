import type { ContractOperation } from '../../document.js';
import type { RequestOptions } from '../../exchange.js';
import { contentType } from '../../fixtures.js';
import type { TestUsers } from '../../users.js';

export const TEXT_BODY: RequestOptions = { body: 'hello', headers: contentType('text/plain') };
export const isSafe = ({ method }: ContractOperation) => method === 'GET';

export const getUser = (users: TestUsers) => users.sharedUser('rejected requests');

/** An undocumented parameter: the response is 400 unless another check rejects the request first. */
export const UNKNOWN_QUERY = ['page=1'];
