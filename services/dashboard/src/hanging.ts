import type { Logger } from '@vigil/chassis';
import { catalogue } from '@vigil/events';
import { type Hanging, hangingTransactions, type Log } from '@vigil/stream';

const LOOK_MS = 10_000;

/**
 * Looks at every topic for hanging transactions, until the signal is aborted. Returns the findings of the last look.
 */
export function watchTransactions(log: Log, signal: AbortSignal, logger: Logger): () => readonly Hanging[] {
  const look = hangingTransactions(log, Object.keys(catalogue));
  let found: readonly Hanging[] = [];
  let looking = false;
  const again = async () => {
    if (looking) return;
    looking = true;
    try {
      found = await look(performance.now());
      for (const hanging of found) logger.error(hanging, 'a transaction hangs: see `vigil transactions`');
    } catch (err) {
      logger.warn({ err }, 'whether a transaction hangs could not be asked');
    } finally {
      looking = false;
    }
  };
  const timer = setInterval(() => void again(), LOOK_MS);
  signal.addEventListener('abort', () => clearInterval(timer), { once: true });
  return () => found;
}
