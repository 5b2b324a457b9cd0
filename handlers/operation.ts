import type { OpenOperationId, OperationId, operations } from '../generated/types.js';
import type { AppContext, AuthenticatedUser } from './context.js';

/*
 * The type of every operation's handler, derived from the contract's types: it takes a parsed and validated request, and
 * returns one of the responses that the operation declares. `generated/handlers.ts` groups the handlers by tag.
 */

type Parameters<Id extends OperationId> = operations[Id]['parameters'];

type BodyOf<Operation> = Operation extends { requestBody: { content: infer Content } }
  ? Content extends { 'application/json': infer Json }
    ? Json
    : Content extends { 'multipart/form-data': infer Form }
      ? Form
      : never
  : undefined;

/** The client that sent a request. */
export interface Client {
  /** Its IP address, as trusted proxies report it. */
  readonly address: string;
  /** Writes log lines with the request's id. */
  readonly log: { info(details: object, message: string): void };
  /** Whether it reached the service over https, as far as trusted proxies report it. */
  readonly https: boolean;
  /** Aborts when the client closes its connection before it has the response. */
  readonly signal: AbortSignal;
}

/** A request that is parsed, authenticated and valid by the contract. */
export interface Request<Id extends OperationId> {
  path: Parameters<Id>['path'] extends infer Path extends object ? Path : Record<never, never>;
  /** Defaults are filled in. */
  query: Required<NonNullable<Parameters<Id>['query']>>;
  /** Those that the contract declares, by its spelling of their names. */
  headerParameters: Readonly<NonNullable<Parameters<Id>['header']>>;
  body: BodyOf<operations[Id]>;
  /** Undefined for operations that need no credentials. */
  user: Id extends OpenOperationId ? undefined : AuthenticatedUser;
  /** As they were sent, names in lower case. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
  client: Client;
}

type Responses<Id extends OperationId> = operations[Id]['responses'];

type ResponseBody<Response> = Response extends { content: infer Content }
  ? Content extends { 'application/json': infer Json }
    ? Json
    : NodeJS.ReadableStream
  : undefined;

/** A status that the operation declares, with that status's body. */
export type Response<Id extends OperationId> = {
  [Status in keyof Responses<Id>]: {
    status: Status;
    headers?: Readonly<Record<string, string>>;
  } & (ResponseBody<Responses<Id>[Status]> extends undefined
    ? { body?: undefined }
    : { body: ResponseBody<Responses<Id>[Status]> });
}[keyof Responses<Id>];

export type Handler<Id extends OperationId> = (request: Request<Id>, context: AppContext) => Promise<Response<Id>>;

/** The handler of every operation. */
export type Handlers = { [Id in OperationId]: Handler<Id> };
