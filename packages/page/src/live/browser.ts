import { ANSWER_MS, NO_SESSION } from '../model/knowledge.ts';
import { plain, plainJson } from '../model/text.ts';
import { type LiveDeps, LoginNeeded, NoStates, type StreamListener } from './live.ts';
import type { Address } from './place.ts';
import { Unanswered } from './send.ts';
import { type Report, type SharedDeps, shareChanges } from './shared.ts';
import { tabVisibility, whileVisible } from './visible.ts';

const RECONNECT_MS = 1500;
/** How often a hidden tab asks for what it shows. */
const HIDDEN_MS = 10_000;

const NOT_ACKNOWLEDGED = 504;

type Problem = { readonly detail?: unknown; readonly since?: unknown; readonly part?: unknown };

const problemOf = async (response: Response): Promise<Error> => {
  const body = (await response.json().catch(() => null)) as Problem | null;
  const text = typeof body?.detail === 'string' ? plain(body.detail) : `the dashboard answered with ${response.status}`;
  return typeof body?.since === 'number' ? new NoStates(text, plain(String(body.part)), body.since) : new Error(text);
};

const bodyOf = async (response: Response): Promise<unknown> => {
  if (response.status === 401) throw new LoginNeeded(NO_SESSION);
  // A command that Kafka has not acknowledged in time: its body has the id, by which it is followed like any other.
  if (!response.ok && response.status !== NOT_ACKNOWLEDGED) throw await problemOf(response);
  return plainJson(await response.text());
};

const unreachable = (error: unknown): never => {
  if (error instanceof TypeError || (error as Error).name === 'TimeoutError')
    throw new Error('the dashboard does not answer');
  throw error;
};

export const get = (path: string, withinMs: number = ANSWER_MS): Promise<unknown> =>
  fetch(path, { signal: AbortSignal.timeout(withinMs), headers: { accept: 'application/json' } })
    .then(bodyOf)
    .catch(unreachable);

const UNANSWERED =
  'The dashboard has not answered in time. The command may take effect later: the history shows what became of it.';

const unanswered = (error: unknown): never => {
  if ((error as Error).name === 'TimeoutError') throw new Unanswered(UNANSWERED);
  throw error;
};

const WRITE_LIMIT_MS = 10_000;

export const post = (path: string, body: unknown): Promise<unknown> =>
  fetch(path, {
    ...{ method: 'POST', body: JSON.stringify(body), signal: AbortSignal.timeout(WRITE_LIMIT_MS) },
    headers: { 'content-type': 'application/json', accept: 'application/json' },
  })
    .then(bodyOf)
    .catch(unanswered)
    .catch(unreachable);

/** Deletes what an address names. */
export const remove = (path: string): Promise<unknown> =>
  fetch(path, {
    ...{ method: 'DELETE', signal: AbortSignal.timeout(WRITE_LIMIT_MS) },
    headers: { accept: 'application/json' },
  })
    .then(bodyOf)
    .catch(unreachable);

/** The tables of one message, `[[table, id], …]`. */
const tablesOf = (data: string): readonly string[] => {
  const pairs = JSON.parse(data) as readonly (readonly [table: string, id: string])[];
  return [...new Set(pairs.map(([table]) => table))];
};

/** Follows the stream of changes, and opens it again when it ends. */
const followChanges = (on: StreamListener): (() => void) => {
  let isOver = false;
  let source: EventSource | null = null;
  const open = (): void => {
    if (isOver) return;
    source = new EventSource('/v1/changes');
    // The stream begins with a reset.
    source.addEventListener('reset', () => on.opened());
    source.addEventListener('changes', ({ data }: MessageEvent<string>) => on.changed(tablesOf(data)));
    source.onerror = () => {
      on.lost();
      source?.close();
      setTimeout(open, RECONNECT_MS);
    };
  };
  open();
  return () => {
    isOver = true;
    source?.close();
  };
};

const STREAM = 'vigil-changes';

/** Other tabs wait for the lock. The browser releases it when its tab ends, also by a crash. */
const whileOnly: SharedDeps['whileOnly'] = (hold) => {
  const stop = new AbortController();
  const holding = (): Promise<void> =>
    new Promise((resolve) => {
      if (stop.signal.aborted) return resolve();
      const end = hold();
      stop.signal.addEventListener('abort', () => {
        end();
        resolve();
      });
    });
  // A browser that refuses the lock gives each tab a stream of its own.
  navigator.locks.request(STREAM, { signal: stop.signal }, holding).catch(holding);
  return () => stop.abort();
};

const connect: SharedDeps['connect'] = (receive) => {
  const channel = new BroadcastChannel(STREAM);
  channel.addEventListener('message', ({ data }: MessageEvent<Report>) => receive(data));
  return { post: (report) => channel.postMessage(report), close: () => channel.close() };
};

/** Browsers have locks at addresses with TLS and on this machine; elsewhere each tab has its stream. */
const followShared = (on: StreamListener): (() => void) =>
  'locks' in navigator ? shareChanges(on, { open: followChanges, whileOnly, connect }) : followChanges(on);

/** A hidden tab has no stream. Its title has the count of the inbox, so its answers are read again now and then. */
const changes = (on: StreamListener): (() => void) => {
  const timer = setInterval(() => {
    if (!tabVisibility.isVisible()) on.lost();
  }, HIDDEN_MS);
  const end = whileVisible(tabVisibility, () => followShared(on));
  return () => {
    clearInterval(timer);
    end();
  };
};

export const browserAddress = (): Address => ({
  hash: () => location.hash,
  setHash: (hash) => {
    location.hash = hash;
  },
  onMove: (moved) => addEventListener('hashchange', moved),
});

export const browserDeps = (): LiveDeps => ({
  get: (path) => get(path),
  changes,
  later: (ms, work) => {
    const timer = setTimeout(work, ms);
    return () => clearTimeout(timer);
  },
  now: () => performance.now(),
});
