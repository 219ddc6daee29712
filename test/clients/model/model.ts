import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer, ClientKind } from './answer.ts';
import { anthropicApi } from './anthropic.ts';
import { isJson, type Json, type ModelApi, sendJson } from './api.ts';
import { geminiApi } from './gemini.ts';
import { openaiApi } from './openai.ts';
import { answerTo, type ScenarioName } from './scenarios.ts';

/** One request of a model turn, with its answer. */
export type ModelRequest = {
  readonly atMs: number;
  readonly client: ClientKind;
  readonly session: string;
  readonly turn: number;
  readonly isMain: boolean;
  readonly isSubagent: boolean;
  /** prompts, tool results and hook context, in order */
  readonly inputs: readonly string[];
  readonly answer: Answer;
};

export type Session = {
  readonly name: string;
  readonly scenario: ScenarioName;
  readonly workdir: string;
  /** how long the model takes for each answer */
  readonly thinkMs: number;
};

export type ScriptedModel = {
  readonly port: number;
  /** Makes a session and returns the base URL that its client is given. */
  readonly open: (client: ClientKind, session: Session) => string;
  readonly requests: (session: string) => readonly ModelRequest[];
  /** Requests that belong to no session or API, because a client uses another service. */
  readonly strays: () => readonly string[];
  readonly close: () => Promise<void>;
};

const apis: Readonly<Record<ClientKind, ModelApi>> = {
  'claude-code': anthropicApi,
  codex: openaiApi,
  'gemini-cli': geminiApi,
};

const isClientKind = (name: string): name is ClientKind => Object.hasOwn(apis, name);

const readBody = async (request: IncomingMessage): Promise<Json> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString('utf8');
  const value: unknown = text === '' ? {} : JSON.parse(text);
  return isJson(value) ? value : {};
};

/**
 * A model on loopback that plays a scenario for each session. The client and the session are in the base URL, so that
 * many clients can use one model. Its answers depend only on the conversation and on the number of requests.
 */
export const startModel = async (options: {
  readonly onRequest: (request: ModelRequest) => void;
}): Promise<ScriptedModel> => {
  const sessions = new Map<string, Session>();
  const requests: ModelRequest[] = [];
  const strays: string[] = [];
  const birth = Date.now().toString(36);
  let ids = 0;
  const newId = (prefix: string): string => {
    ids += 1;
    return `${prefix}_${birth}${String(ids).padStart(8, '0')}`;
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await readBody(request);
    const { pathname } = new URL(request.url ?? '/', 'http://model');
    const [, client = '', name = '', ...rest] = pathname.split('/');
    const session = sessions.get(name);
    if (!isClientKind(client) || session === undefined) {
      strays.push(`${request.method} ${pathname}`);
      sendJson(response, 404, { error: { message: `no session at ${pathname}` } });
      return;
    }
    const api = apis[client];
    const path = `/${rest.join('/')}`;
    const view = api.view(path, body);
    if (view === null) {
      const side = api.side(path);
      sendJson(response, side.status, side.body);
      return;
    }
    const isCounted = view.isMain && !view.isSubagent;
    const earlier = requests.filter((entry) => entry.session === name && entry.isMain && !entry.isSubagent).length;
    const answer = view.isMain
      ? answerTo(session.scenario, {
          ...view,
          client,
          request: isCounted ? earlier + 1 : earlier,
          workdir: session.workdir,
        })
      : api.aside;
    const record = { atMs: Date.now(), client, session: name, ...view, answer };
    requests.push(record);
    options.onRequest(record);
    if (view.isMain) await sleep(session.thinkMs);
    api.respond({ path, body, turn: view.turn, answer, response, newId });
  };

  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      strays.push(`${request.method} ${request.url}: ${String(error)}`);
      if (!response.headersSent) sendJson(response, 500, { error: { message: String(error) } });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the model listens on no port');
  return {
    port: address.port,
    open: (client, session) => {
      if (!/^[\w-]+$/.test(session.name))
        throw new Error(`"${session.name}" is not valid in a URL; use letters, digits and -`);
      sessions.set(session.name, session);
      return `http://127.0.0.1:${address.port}/${client}/${session.name}`;
    },
    requests: (session) => requests.filter((entry) => entry.session === session),
    strays: () => strays,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
