import type { ServerResponse } from 'node:http';
import type { Answer, ClientKind } from './answer.ts';

/** JSON of unknown shape. */
export type Json = Readonly<Record<string, unknown>>;

/** The conversation of a request. */
export type View = {
  readonly turn: number;
  readonly isSubagent: boolean;
  readonly inputs: readonly string[];
  /** false for the client's own side requests (titles, routing), which no scenario answers */
  readonly isMain: boolean;
};

/** The model API of one client. */
export type ModelApi = {
  readonly client: ClientKind;
  /** null when the path does not start a model turn; then `side` answers */
  readonly view: (path: string, body: Json) => View | null;
  /** the status and body for a path other than a model turn (token counts, lists of models) */
  readonly side: (path: string) => { readonly status: number; readonly body: Json };
  /** the answer to a side request without tools */
  readonly aside: Answer;
  readonly respond: (exchange: Exchange) => void;
};

export type Exchange = {
  readonly path: string;
  readonly body: Json;
  readonly turn: number;
  readonly answer: Answer;
  readonly response: ServerResponse;
  /** an id that no other call or message has, also after a restart of the model */
  readonly newId: (prefix: string) => string;
};

export const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const listOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.filter(isJson) : []);

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

export const sendJson = (
  response: ServerResponse,
  status: number,
  body: Json,
  headers: Readonly<Record<string, string>> = {},
): void => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
};

export const startEventStream = (response: ServerResponse): void => {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
};
