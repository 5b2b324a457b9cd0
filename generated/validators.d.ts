// Generated from openapi.yaml by `npm run generate`. Do not edit.

import type { ErrorObject } from 'ajv';
import type { OperationId } from './handlers.js';

export interface Validate {
  (data: unknown): boolean;
  errors?: ErrorObject[] | null;
}

export declare const validators: Readonly<Record<OperationId, Readonly<Record<'query' | 'path' | 'body', Validate>>>>;
