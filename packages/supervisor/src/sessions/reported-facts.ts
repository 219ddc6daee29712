import { adapterNamed } from '@vigil/adapters';
import type { TerminalFacts } from '../heartbeat/heartbeat.ts';
import type { SessionView } from './agent-sessions.ts';

/**
 * Whether the limits of a session are reported by other ways than the words in its output. The other ways are its hooks, its files, its stream of
 * events, or the screen of an interactive client. The words alone are in every source file about limits.
 */
export const reportsLimits = (session: SessionView | null, isHeadless: boolean): boolean => {
  if (session === null || session.hasEnded) return false;
  return session.source === 'output' || !isHeadless || adapterNamed(session.client)?.hooks.reportsLimits === true;
};

/** Without what a session that reports its turns and calls reports itself: questions and errors. */
export const withoutReported = <Facts extends Pick<TerminalFacts, 'asks' | 'repeatedError'>>(
  facts: Facts,
  isReported: boolean,
): Facts => (isReported ? { ...facts, asks: null, repeatedError: null } : facts);
