// Generated from openapi.yaml by `npm run generate`. Do not edit.

import type { OperationId } from './types.js';

/** Functions that return a body as JSON, by operation and status. They omit fields that the contract does not declare. */
export declare const serializers: Readonly<Record<OperationId, Readonly<Record<number, (body: unknown) => string>>>>;
