import type { ScreenMeaning } from '@vigil/adapters/adapter';
import type { SessionEvent, SessionState } from '@vigil/adapters/session';
import type { Activity, WaitingFor } from '@vigil/events';
import type { SessionFacts } from '../typing/decide.ts';
import type { Surface } from './surface.ts';

/** What the screen shows of an agent. Null: it shows nothing of that. */
export type ScreenReport = {
  readonly activity: Extract<Activity, 'working' | 'awaiting_input'> | null;
  readonly waitingFor: Omit<WaitingFor, 'since'> | null;
};

const nothing: ScreenReport = { activity: null, waitingFor: null };

const waits = (kind: WaitingFor['kind'], text: string | null): ScreenReport => ({
  activity: 'awaiting_input',
  waitingFor: { kind, text },
});

/**
 * What the screen of a client shows. A dialog counts with any report of the hooks, because some open without a hook. For
 * everything else hooks decide, if they report turns.
 */
export const screenReport = ({ client, meaning }: Surface, { turnOpen }: SessionFacts): ScreenReport => {
  if (client === null || client.invocation.headless) return nothing;
  switch (meaning.kind) {
    case 'dialog':
      return waits(meaning.wait, meaning.text);
    case 'prompt':
      return turnOpen === null ? waits('prompt', null) : nothing;
    case 'working':
    case 'retrying':
      return turnOpen === null ? { activity: 'working', waitingFor: null } : nothing;
    case 'unknown':
      return nothing;
  }
};

/** How long a prompt that shows the end of a turn has to stand while the hooks' turn is open, milliseconds: Esc fires no hook. */
export const INTERRUPTED_AFTER_MS = 5000;

/** What the screen shows that no hook reports: the turn is over, or the dialog that was waited for has gone. Null: nothing. */
export const missedByHooks = (
  { client, meaning, steadyMs }: Surface,
  { turnOpen, waitingFor }: SessionFacts,
): 'turn_interrupted' | 'wait_ended' | null => {
  if (client === null || client.invocation.headless) return null;
  if (steadyMs < INTERRUPTED_AFTER_MS || turnOpen !== true) return null;
  const isWaiting = waitingFor !== null && waitingFor !== 'prompt';
  if (meaning.kind === 'prompt' && meaning.turnOver) return 'turn_interrupted';
  return meaning.kind === 'working' && isWaiting ? 'wait_ended' : null;
};

/** On a screen that means one of these no dialog is open. */
const withoutDialog: ReadonlySet<ScreenMeaning['kind']> = new Set<ScreenMeaning['kind']>([
  'working',
  'retrying',
  'prompt',
]);

/** Whether a sub-agent waits for a person by a dialog that had the time to open, and has gone. A client asks for all its agents. */
const isAnswered = ({ meaning, steadyMs }: Surface, { wait }: SessionState['main'], now: number): boolean =>
  wait !== null &&
  withoutDialog.has(meaning.kind) &&
  Math.min(steadyMs, now - (wait.waiting.since ?? 0)) >= INTERRUPTED_AFTER_MS;

/** The facts about a session and its sub-agents that its screen shows and no hook reports. `now`: epoch milliseconds */
export const missedEvents = (surface: Surface, session: SessionState, now: number): readonly SessionEvent[] => {
  const { turn, wait } = session.main;
  const own = missedByHooks(surface, { turnOpen: turn?.open ?? null, waitingFor: wait?.waiting.kind ?? null });
  const main: readonly SessionEvent[] = own === null ? [] : [{ kind: own, at: now, agent: null }];
  if (surface.client === null || surface.client.invocation.headless) return main;
  const answered = Object.entries(session.subagents).filter(([, one]) => isAnswered(surface, one, now));
  return [...main, ...answered.map(([agent]): SessionEvent => ({ kind: 'wait_ended', at: now, agent }))];
};

/** How long a retry without a time counts as a retry, milliseconds: a client that hangs shows the same forever. */
const RETRY_UNKNOWN_MS = 120_000;

/** A limit that the screen shows and no hook reports: until when, null: unknown. Null: it shows none, or its time is over. */
export const limitShown = (
  { meaning, steadyMs }: Surface,
  { turnOpen }: SessionFacts,
  now: number,
): { readonly retryAt: number | null } | null => {
  if (turnOpen !== true || meaning.kind !== 'retrying' || meaning.limit === null) return null;
  const { retryInMs } = meaning.limit;
  if (retryInMs === null) return steadyMs < RETRY_UNKNOWN_MS ? { retryAt: null } : null;
  return retryInMs > steadyMs ? { retryAt: Math.round(now - steadyMs + retryInMs) } : null;
};
