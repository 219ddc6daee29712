import { readFileSync } from 'node:fs';
import { Refused } from '@vigil/chassis';
import type { Logger } from '@vigil/stream';

/** How often the file is read, milliseconds. */
const LOOK_MS = 5_000;

/** The file that names channels has changed, and can be used. The next process opens its channels. */
export class ChannelsChanged extends Error {
  override readonly name = 'ChannelsChanged';
}

/** `check`: throws Refused where the file cannot be used. */
type WatchDeps = { readonly check: () => void; readonly logger: Logger; readonly signal: AbortSignal };

const textOf = (file: string): string | null => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
};

/**
 * Ends the process when the file has changed, so that it starts again with the new channels: what waits for delivery is
 * in the log. A file that cannot be used changes nothing, and is logged once. One that is away changes nothing.
 */
export const watchChannels = (file: string | undefined, { check, logger, signal }: WatchDeps) => {
  const { promise: finished, reject } = Promise.withResolvers<never>();
  finished.catch(() => {});
  let known = file === undefined ? null : textOf(file);
  const look = (name: string): void => {
    const text = textOf(name);
    if (text === null || text === known) return;
    known = text;
    try {
      check();
      reject(new ChannelsChanged(`${name} has changed: alerting starts again with its channels`));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      logger.warn({ err: error }, `${name} has changed and cannot be used: the channels stay as they are`);
    }
  };
  if (file !== undefined) {
    const timer = setInterval(() => look(file), LOOK_MS);
    signal.addEventListener('abort', () => clearInterval(timer), { once: true });
  }
  return { ready: () => true, finished };
};
