// Generated from openapi.yaml by `npm run generate`. Do not edit.

import type { ErrorObject } from 'ajv';
import type { OperationId } from './types.js';

export interface Validate {
  (data: unknown): boolean;
  errors?: ErrorObject[] | null;
}

export interface Validators {
  readonly query: Validate;
  readonly path: Validate;
  readonly body: Validate;
  /** Only where the operation declares header parameters. */
  readonly header?: Validate;
}

export declare const validators: Readonly<Record<OperationId, Validators>>;
