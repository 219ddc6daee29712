import { type SinkDeps, TryLater, Undeliverable } from '../delivery/sink.ts';

/** What a person does about an answer with this status. */
export type Remedies = Readonly<Record<number, string>>;

/** Of any receiver. */
export const GONE: Remedies = {
  301: 'write the address that it has moved to',
  308: 'write the address that it has moved to',
  404: 'correct the address',
  410: 'the receiver is gone: remove the channel',
};

/** `url` is shown without its path and query, because they may be a secret. */
type Post = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON */
  readonly body: string;
  /** milliseconds */
  readonly timeout: number;
  readonly remedies: Remedies;
  /** further statuses whose answer the caller reads */
  readonly alsoRead?: readonly number[];
};

/** The text of the answer. Throws TryLater for 408, 425, 429, 5xx and no answer, Undeliverable for any other answer but 2xx. */
export const post = async (
  { url, headers, body, timeout, remedies, alsoRead = [] }: Post,
  deps: Pick<SinkDeps, 'now'>,
) => {
  const shown = shownOf(url);
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'user-agent': 'Vigil', ...headers },
    body,
    redirect: 'manual',
    signal: AbortSignal.timeout(timeout),
  }).catch((error: unknown) => {
    throw new TryLater(`${shown} cannot be reached: ${reasonOf(error)}`);
  });
  const { status } = response;
  const text = await beginningOf(response);
  if (response.ok || alsoRead.includes(status)) return text;
  if (status === 408 || status === 425 || status === 429 || status >= 500)
    throw new TryLater(`${shown} answered ${status}`, retryAfter(response.headers.get('retry-after'), deps.now()));
  throw new Undeliverable(`${shown} answered ${status}: ${remedies[status] ?? 'see why its receiver refuses it'}`);
};

/** The longest answer that is read, bytes. */
const LONGEST_ANSWER = 1_000_000;

/** Empty where the answer cannot be read: its status has arrived. */
const beginningOf = async (response: Response): Promise<string> => {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of response.body ?? []) {
      size += chunk.byteLength;
      if (size > LONGEST_ANSWER) break;
      chunks.push(chunk);
    }
  } catch {
    return '';
  }
  return Buffer.concat(chunks).toString();
};

/** The path of some receivers is a secret: alerts, logs and dead letters show only the host. */
const shownOf = (url: string): string => {
  const { origin, pathname, search } = new URL(url);
  return pathname === '/' && search === '' ? origin : `${origin}/…`;
};

const reasonOf = (error: unknown): string => {
  const { name, message, cause } = error as Error;
  if (name === 'TimeoutError') return 'no answer in time';
  return cause instanceof Error ? cause.message : message;
};

/** The longest pause that a receiver may request, so that its mistake does not block its alerts for good. */
const LONGEST_REQUESTED_MS = 3_600_000;

/** The wait that a Retry-After header asks for, in seconds or as a date; null: none that can be read. */
export const retryAfter = (header: string | null, now: number): number | null => {
  if (header === null) return null;
  const ms = /^\d+$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isNaN(ms) ? null : Math.min(Math.max(ms, 0), LONGEST_REQUESTED_MS);
};
