import type { Operation } from './document.js';

const TYPES = `
import type { operations } from './types.js';

export type { Upload } from './types.js';

export type OperationId = keyof operations;

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

/** What a handler gets: parsed, authenticated and valid by the contract. */
export interface Request<Id extends OperationId, Caller> {
  path: Parameters<Id>['path'] extends infer Path extends object ? Path : Record<never, never>;
  /** Defaults are filled in. */
  query: Required<NonNullable<Parameters<Id>['query']>>;
  /** Those that the contract declares, by its spelling of their names. */
  headerParameters: Readonly<NonNullable<Parameters<Id>['header']>>;
  body: BodyOf<operations[Id]>;
  /** Known wherever the operation needs credentials. */
  caller: Id extends OpenOperationId ? undefined : Caller;
  /** As they were sent, names in lower case. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
  client: Client;
}

type Responses<Id extends OperationId> = operations[Id]['responses'];

type AnswerBody<Answer> = Answer extends { content: infer Content }
  ? Content extends { 'application/json': infer Json }
    ? Json
    : NodeJS.ReadableStream
  : undefined;

/** What a handler may answer: a status that the operation declares, with that status's body. */
export type Response<Id extends OperationId> = {
  [Status in keyof Responses<Id>]: {
    status: Status;
    headers?: Readonly<Record<string, string>>;
  } & (AnswerBody<Responses<Id>[Status]> extends undefined
    ? { body?: undefined }
    : { body: AnswerBody<Responses<Id>[Status]> });
}[keyof Responses<Id>];

export type Handler<Id extends OperationId, App, Caller> = (
  request: Request<Id, Caller>,
  app: App,
) => Promise<Response<Id>>;
`.trimStart();

/** The typed stubs: one member for each operation, so that a missing or wrong handler does not compile. */
export function generateHandlers(operations: Operation[]): string {
  const open = operations.filter(({ secured }) => !secured).map(({ id }) => `'${id}'`);
  const members = operations.map(
    ({ id, method, path, summary }) =>
      `  /** \`${method} ${path}\`: ${summary} */\n  ${id}: Handler<'${id}', App, Caller>;`,
  );
  return `${TYPES}
/** The operations that need no credentials. */
export type OpenOperationId = ${open.join(' | ')};

/** App is what all handlers may use, Caller whose request it is. */
export interface Handlers<App, Caller> {
${members.join('\n')}
}
`;
}
