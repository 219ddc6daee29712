import { z } from 'zod';
import type { DashboardSettings } from './config.ts';
import { CannotAsk, Refusal } from './errors.ts';

/** The dashboard's API. Throws CannotAsk where nobody answers or the question is wrong, Refusal where the answer is no. */
export type Client = {
  readonly get: <T>(path: string, query?: Readonly<Record<string, string | undefined>>) => Promise<T>;
  readonly post: <T>(path: string, body: object) => Promise<T>;
  /** each line of a stream of JSON, until it ends or the signal is aborted */
  readonly lines: <T>(
    path: string,
    query: Readonly<Record<string, string | undefined>>,
    signal: AbortSignal,
  ) => AsyncIterable<T>;
};

const ANSWER_LIMIT_MS = 10_000;

const problem = z.object({ detail: z.string() });

export function openClient({ url, token }: DashboardSettings): Client {
  const ask = (path: string, init: RequestInit) =>
    send(new URL(path, url), { ...init, headers: { authorization: `Bearer ${token}`, ...init.headers } });
  const limited = () => AbortSignal.timeout(ANSWER_LIMIT_MS);
  return {
    get: async <T>(path: string, query = {}) => json<T>(await ask(withQuery(path, query), { signal: limited() })),
    post: async <T>(path: string, body: object) => {
      const headers = { 'content-type': 'application/json' };
      return json<T>(await ask(path, { method: 'POST', body: JSON.stringify(body), headers, signal: limited() }));
    },
    lines: async function* <T>(path: string, query: Readonly<Record<string, string | undefined>>, signal: AbortSignal) {
      const { body } = await ask(withQuery(path, query), { signal });
      if (body !== null) yield* linesOf<T>(body);
    },
  };
}

function withQuery(path: string, query: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

const json = async <T>(answer: Response): Promise<T> => (await answer.json()) as T;

async function send(url: URL, init: RequestInit): Promise<Response> {
  const answer = await fetch(url, init).catch((error: unknown) => {
    if (init.signal?.aborted && (error as Error).name === 'AbortError') throw error;
    const cause = error as { message: string; cause?: { code?: string } };
    throw new CannotAsk(
      `The dashboard at ${url.origin} does not answer (${cause.cause?.code ?? cause.message}): ` +
        'start Vigil (`npm start`), or set VIGIL_DASHBOARD_URL.',
    );
  });
  if (answer.ok) return answer;
  throw await refusalOf(answer);
}

async function refusalOf(answer: Response): Promise<Error> {
  const said = problem.safeParse(await answer.json().catch(() => null));
  const detail = said.success ? said.data.detail : `The dashboard answers with status ${answer.status}.`;
  if (answer.status === 401) return new CannotAsk(`VIGIL_DASHBOARD_TOKEN is not the dashboard's: ${detail}`);
  return answer.status === 400 ? new CannotAsk(detail) : new Refusal(detail);
}

async function* linesOf<T>(body: ReadableStream<Uint8Array>): AsyncIterable<T> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield JSON.parse(line) as T;
  }
}
