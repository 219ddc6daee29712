import { readFileSync } from 'node:fs';
import { Refused } from '@vigil/chassis';
import type { Logger } from '@vigil/stream';

/** How often the file is read, milliseconds. */
const LOOK_MS = 2_500;

/** The file that names channels has changed, and can be used. The next process opens its channels. */
export class ChannelsChanged extends Error {
  override readonly name = 'ChannelsChanged';
}

/** `check`: throws Refused where the file cannot be used. */
type WatchDeps = { readonly check: () => void; readonly logger: Logger; readonly signal: AbortSignal };

/** The file as read at the start of the service, before its channels are opened. null: there is none. */
export type ReadFile = { readonly name: string; readonly text: string | null };

const textOf = (name: string): string | null => {
  try {
    return readFileSync(name, 'utf8');
  } catch {
    return null;
  }
};

export const readNow = (name: string | undefined): ReadFile | null =>
  name === undefined ? null : { name, text: textOf(name) };

/**
 * Ends the process when the file has changed, so that it starts again with the new channels: what waits for delivery is
 * in the log. Two looks must read the same text, because a look may read half of a file that is being written. A file
 * that cannot be used changes nothing, and is logged once; it is checked again at each look, because a secret that it
 * names may come later. One that is away or empty changes nothing.
 */
export const watchChannels = (file: ReadFile | null, { check, logger, signal }: WatchDeps) => {
  const { promise: finished, reject } = Promise.withResolvers<never>();
  finished.catch(() => {});
  const known = file?.text ?? null;
  let seen = known;
  let refused: string | null = null;
  const look = (name: string): void => {
    const before = seen;
    const text = textOf(name);
    seen = text;
    if (text === null || text.trim() === '' || text === known || text !== before) return;
    try {
      check();
      reject(new ChannelsChanged(`${name} has changed: alerting starts again with its channels`));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (text !== refused)
        logger.warn({ err: error }, `${name} has changed and cannot be used: the channels stay as they are`);
      refused = text;
    }
  };
  if (file !== null) {
    const timer = setInterval(() => look(file.name), LOOK_MS);
    signal.addEventListener('abort', () => clearInterval(timer), { once: true });
  }
  return { ready: () => true, finished };
};
