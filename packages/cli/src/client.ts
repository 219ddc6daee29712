import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import type { ServerSettings } from './config.ts';
import { CannotProceed, NoAnswer, NoStates, Refusal, Unconfirmed, UnknownName } from './errors.ts';

/** The fields of a query. A list is a field that is repeated. */
export type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The API of the dashboard or the gateway. Throws CannotProceed without an answer and for a wrong request, Refusal for a refused one. */
export type Client = {
  readonly get: <T>(path: string, query?: Query) => Promise<T>;
  readonly post: <T>(path: string, body: object) => Promise<T>;
  /** each line of a stream of JSON, until it ends or the signal is aborted */
  readonly lines: <T>(path: string, query: Query, signal: AbortSignal) => AsyncIterable<T>;
};

export const ANSWER_LIMIT_MS = 10_000;
/** Longer than the dashboard waits for a part, or for the figures of an explanation. */
export const REPORT_LIMIT_MS = 5000;
/** A view shows that it is blind within five seconds, also one that looks again each second. */
export const VIEW_LIMIT_MS = 3500;

/** `askedAt`: epoch milliseconds */
type Question = {
  readonly method: 'GET' | 'POST';
  readonly body: string | null;
  readonly signal: AbortSignal;
  readonly askedAt: number;
};

const asked = (method: Question['method'], body: string | null, signal: AbortSignal): Question => ({
  ...{ method, body, signal },
  askedAt: Date.now(),
});

/** `limitMs`: how long it waits for an answer. */
export const openClient = (settings: ServerSettings, limitMs: number): Client => {
  const { url } = settings;
  const ask = (path: string, question: Question) => send(new URL(path, url), settings, question);
  const whole = async <T>(path: string, question: Question, query: Query): Promise<T> => {
    const answer = await ask(withQuery(path, query), question);
    return await json<T>(answer).catch((error: unknown) => {
      // An answer that ends in its middle is none.
      throw error instanceof SyntaxError ? error : failureOf(new URL(url), settings, question, error);
    });
  };
  return {
    get: async <T>(path: string, query = {}) => whole<T>(path, asked('GET', null, AbortSignal.timeout(limitMs)), query),
    post: async <T>(path: string, body: object) =>
      whole<T>(path, asked('POST', JSON.stringify(body), AbortSignal.timeout(limitMs)), {}),
    lines: async function* <T>(path: string, query: Query, signal: AbortSignal) {
      yield* linesOf<T>(await ask(withQuery(path, query), asked('GET', null, signal)));
    },
  };
};

/**
 * For answers that need other parts than the dashboard, and take longer than a view waits. A dashboard that does not
 * even name its caller within `viewMs` is frozen, and is not waited for any longer.
 */
export const openReportClient = (
  settings: ServerSettings,
  { viewMs, reportMs }: { readonly viewMs: number; readonly reportMs: number },
): Client => {
  const client = openClient(settings, reportMs);
  const view = openClient(settings, viewMs);
  const get: Client['get'] = <T>(path: string, query?: Query) => {
    const answer = client.get<T>(path, query);
    const frozen = view.get('/v1/me').catch((error: unknown) => {
      if (error instanceof NoAnswer) throw error;
    });
    return Promise.race([answer, frozen.then(() => answer)]);
  };
  return { ...client, get };
};

const withQuery = (path: string, query: Query): string => {
  const given = Object.entries(query).flatMap(([name, value]) =>
    [value ?? []].flat().map((one): [string, string] => [name, one]),
  );
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
};

/** The first answer of a list, with the rows of all its pages. `field`: what the answer calls them. */
export const wholeAnswer = async <Answer extends object>(
  client: Pick<Client, 'get'>,
  path: string,
  field: keyof Answer & string,
  query: Query,
): Promise<Answer> => {
  type Page = Readonly<Record<string, unknown>>;
  const first = await client.get<Page>(path, query);
  const rows = [...(first[field] as readonly unknown[])];
  // Older dashboards have no further pages.
  let cursor = (first.next as string | null | undefined) ?? undefined;
  while (cursor !== undefined) {
    const page = await client.get<Page>(path, { ...query, cursor });
    rows.push(...(page[field] as readonly unknown[]));
    cursor = (page.next as string | null | undefined) ?? undefined;
  }
  return { ...first, [field]: rows } as Answer;
};

/** All rows of a list, page after page. `field`: what the answer calls them. */
export const wholeList = async <Row>(
  client: Pick<Client, 'get'>,
  path: string,
  field: string,
  query: Query,
): Promise<readonly Row[]> =>
  (await wholeAnswer<Readonly<Record<string, readonly Row[]>>>(client, path, field, query))[field] ?? [];

const json = async <T>(answer: IncomingMessage): Promise<T> => JSON.parse(await text(answer)) as T;

/**
 * Loading `fetch` takes longer than the rest of a command. So does `import 'node:http'`, which loads `fetch` to export WebSocket; the
 * built-in module alone does not.
 */
const answerTo = (url: URL, token: string, { method, body, signal }: Question): Promise<IncomingMessage> => {
  const { request } = process.getBuiltinModule(url.protocol === 'https:' ? 'node:https' : 'node:http');
  const headers = {
    authorization: `Bearer ${token}`,
    ...(body === null ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
  };
  return new Promise((resolve, reject) => {
    const answered = (answer: IncomingMessage): void => {
      // A reader of the answer gets its error, too. Without a listener, one between two reads would end the process.
      answer.on('error', () => {});
      resolve(answer);
    };
    request(url, { method, headers, signal }, answered)
      .once('error', reject)
      .end(body ?? undefined);
  });
};

/** The reason for a missing answer. */
const failureOf = (
  url: URL,
  { server }: ServerSettings,
  { method, signal, askedAt }: Question,
  error: unknown,
): Error => {
  const cause = (signal.aborted ? signal.reason : error) as Error & { readonly code?: unknown };
  if (cause.name === 'AbortError') return cause;
  if (cause.name === 'TimeoutError') {
    const since = new Date(askedAt).toTimeString().slice(0, 8);
    const blind = method === 'GET' && server === 'dashboard' ? `BLIND since ${since} or before` : null;
    return new NoAnswer(
      `The ${server} at ${url.origin} has not answered in time: it is frozen or busy, or this machine is. Try again, or see \`vigil doctor\`.`,
      blind,
    );
  }
  const why = typeof cause.code === 'string' ? cause.code : cause.message;
  return new NoAnswer(
    `The ${server} at ${url.origin} does not answer (${why}): ` +
      `start Vigil (\`npm start\`), or set VIGIL_${server.toUpperCase()}_URL.`,
  );
};

const send = async (url: URL, settings: ServerSettings, question: Question): Promise<IncomingMessage> => {
  const answer = await answerTo(url, settings.token, question).catch((error: unknown) => {
    throw failureOf(url, settings, question, error);
  });
  const { statusCode = 0 } = answer;
  if (statusCode >= 200 && statusCode < 300) return answer;
  throw await refusalOf(settings.server, statusCode, answer);
};

const refusalOf = async (server: ServerSettings['server'], status: number, answer: IncomingMessage): Promise<Error> => {
  type Problem = { readonly [Field in 'type' | 'detail' | 'eventId' | 'since' | 'part']?: unknown };
  const problem = await json<Problem | null>(answer).catch(() => null);
  const { detail: named, eventId, since, part } = problem ?? {};
  if (status === 504 && typeof eventId === 'string') return new Unconfirmed(eventId);
  const detail = typeof named === 'string' ? named : `The ${server} answers with status ${status}.`;
  if (status === 401) return new CannotProceed(`VIGIL_${server.toUpperCase()}_TOKEN is not the ${server}'s: ${detail}`);
  const [, unknown] = /^urn:vigil:unknown_(\w+)$/.exec(String(problem?.type)) ?? [];
  if (status === 404 && unknown !== undefined) return new UnknownName(unknown, detail);
  // An older dashboard does not name the part: it has no states only without Postgres.
  if (status === 503 && typeof since === 'number')
    return new NoStates(detail, typeof part === 'string' ? part : 'postgres', since);
  return status === 400 || status === 503 ? new CannotProceed(detail) : new Refusal(detail);
};

async function* linesOf<T>(body: IncomingMessage): AsyncIterable<T> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield JSON.parse(line) as T;
  }
}
