import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { CHANGES } from './apply.ts';

/** The id of a row that has changed, and its table. */
export type Change = readonly [table: string, id: string];

/** Receives changed rows as they are committed; null: changes may be missing, so everything may have changed. */
type Listener = (changes: readonly Change[] | null) => void;

export type Changes = {
  /** Returns a function that ends the listening. */
  readonly listen: (listener: Listener) => () => void;
};

const AGAIN_MS = 1000;

/** Follows what the projector writes, until the signal is aborted. A lost connection is opened again, and `onTrouble` receives its error. */
export const followChanges = (databaseUrl: string, onTrouble: (error: Error) => void, signal: AbortSignal): Changes => {
  const listeners = new Set<Listener>();
  const notify: Listener = (changes) => {
    for (const listener of listeners) listener(changes);
  };

  const followOnce = async (): Promise<void> => {
    const client = new pg.Client({ connectionString: databaseUrl, keepAlive: true, application_name: 'vigil-changes' });
    const { promise: lost, resolve, reject } = Promise.withResolvers<void>();
    client.on('error', reject);
    client.on('end', resolve);
    client.on('notification', ({ payload }) => notify(JSON.parse(payload ?? '[]') as readonly Change[]));
    const close = () => void client.end().catch(() => {});
    signal.addEventListener('abort', close, { once: true });
    try {
      await client.connect();
      await client.query(`LISTEN ${CHANGES}`);
      notify(null);
      await lost;
    } finally {
      signal.removeEventListener('abort', close);
      close();
    }
  };

  const follow = async (): Promise<void> => {
    while (!signal.aborted) {
      await followOnce().catch(onTrouble);
      await sleep(AGAIN_MS, undefined, { signal }).catch(() => {});
    }
  };
  void follow();
  return {
    listen: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
};
