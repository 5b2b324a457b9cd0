// Generated from openapi.yaml by `npm run generate`. Do not edit.

import type { OperationId } from './types.js';

/** By operation and status: the body as JSON, with nothing that the contract does not name. */
export declare const serializers: Readonly<Record<OperationId, Readonly<Record<number, (body: unknown) => string>>>>;
