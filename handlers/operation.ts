import type { IncomingHttpHeaders } from 'node:http';
import type { components, OperationId, operations, UnsecuredOperationId } from '../generated/types.js';
import type { AppContext, AuthenticatedUser } from './context.js';
import type { ErrorCode } from './error-codes.js';

/*
 * The types of operations and their handlers. They are derived from the generated types of the OpenAPI document. A handler
 * takes a parsed and validated request, and returns one of the responses that its operation declares.
 * `generated/handlers.ts` groups the handlers by tag.
 */

type ParametersOf<Id extends OperationId> = operations[Id]['parameters'];

type BodyOf<Declared> = Declared extends { requestBody: { content: infer Content } }
  ? Content extends { 'application/json': infer Json }
    ? Json
    : Content extends { 'multipart/form-data': infer Form }
      ? { [Name in keyof Form]: Form[Name] extends Blob | undefined ? Upload : Form[Name] }
      : never
  : undefined;

/** An uploaded file of a form. `path` is a temporary file, which is removed after the handler has returned. */
export interface Upload {
  path: string;
  /** The size in bytes. */
  size: number;
  /** The media type that was detected from the file's signature. */
  mediaType: string;
}

/** The client that sent a request. */
export interface Client {
  /** The client's IP address, as trusted proxies report it. */
  readonly address: string;
  /** Writes log lines with the request's id. */
  readonly log: { info(details: object, message: string): void };
  /** Whether the request was sent over https, as trusted proxies report it. */
  readonly https: boolean;
  /** Aborts if the client closes its connection before the response is complete. */
  readonly signal: AbortSignal;
}

type UserOf<Id extends OperationId> = Id extends UnsecuredOperationId ? undefined : AuthenticatedUser;

/** A parsed and authenticated request that is valid against the OpenAPI document. */
export interface Request<Id extends OperationId> {
  path: ParametersOf<Id>['path'] extends infer Path extends object ? Path : Record<never, never>;
  /** The query parameters that were sent. */
  query: NonNullable<ParametersOf<Id>['query']>;
  /** The header parameters that the operation declares, with names spelled as in the OpenAPI document. */
  headerParameters: Readonly<NonNullable<ParametersOf<Id>['header']>>;
  body: BodyOf<operations[Id]>;
  /** Undefined for operations without authentication. */
  user: UserOf<Id>;
  /** All headers, with names in lower case. They have not been validated. */
  headers: Readonly<IncomingHttpHeaders>;
  client: Client;
}

type Responses<Id extends OperationId> = operations[Id]['responses'];

type ResponseBody<Response> = Response extends { content: infer Content }
  ? Content extends { 'application/json': infer Json }
    ? // The document does not enumerate the codes, because clients must expect new ones.
      Json extends components['schemas']['ApiError']
      ? Json & { code: ErrorCode }
      : Json
    : NodeJS.ReadableStream
  : undefined;

/** One of the responses that the operation declares: a status with the body of that status. */
export type Response<Id extends OperationId> = {
  [Status in keyof Responses<Id>]: {
    status: Status;
    headers?: Readonly<Record<string, string>>;
  } & (ResponseBody<Responses<Id>[Status]> extends undefined
    ? { body?: undefined }
    : { body: ResponseBody<Responses<Id>[Status]> });
}[keyof Responses<Id>];

type Handler<Id extends OperationId> = (request: Request<Id>, context: AppContext) => Promise<Response<Id>>;

/** The type of a parameter or of a field of a body. */
export type FieldType = 'string' | 'integer' | 'boolean' | 'file';

/** What the server needs to know about an operation before its handler runs. `generated/routes.ts` contains all operations. */
export interface Operation {
  id: OperationId;
  method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  /** The path as in the OpenAPI document, such as `/posts/{id}`. */
  path: string;
  requiresAuthentication: boolean;
  /** The rate limit against which its requests are counted. */
  rateLimit: 'strict' | 'general';
  pathParameters: Readonly<Record<string, FieldType>>;
  query: Readonly<Record<string, FieldType>>;
  /** The header parameters, with names spelled as in the OpenAPI document. */
  headers: Readonly<Record<string, FieldType>>;
  body?: {
    mediaType: 'application/json' | 'multipart/form-data';
    fields: Readonly<Record<string, FieldType>>;
    /** The fields with email addresses, which are trimmed and converted to lower case before validation. */
    emails: readonly string[];
  };
  /** Whether an operation without a body refuses even `{}`, which otherwise counts as no body. */
  refusesEmptyObject: boolean;
}

/** The handlers of all operations, by operationId. */
export type Handlers = { [Id in OperationId]: Handler<Id> };
