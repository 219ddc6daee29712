import { describeEvent } from '@vigil/cli/describe';
import type { Entry } from '@vigil/read-model';
import type { Action, Sent } from '../model/commands.ts';

/** What the API reports of a command. */
export type Outcome = {
  readonly outcome: 'pending' | 'applied' | 'refused';
  /** why it was refused, or what it waits for */
  readonly reason: string | null;
  /** when that for which it waits is due at the latest, epoch milliseconds */
  readonly until: number | null;
  /** what it has caused, oldest first */
  readonly events: readonly Pick<Entry, 'type' | 'payload'>[];
};

/** The command may have been written, and no answer came in time. */
export class Unanswered extends Error {
  override readonly name = 'Unanswered';
}

export type SendDeps = {
  /** writes a command; returns the id of its event */
  readonly write: (command: object) => Promise<string>;
  /** waits this long for the outcome, seconds */
  readonly outcomeOf: (eventId: string, waitS: number) => Promise<Outcome>;
  readonly now: () => number;
  readonly onChange: (sent: Sent) => void;
};

/**
 * How long each question about the outcome waits at the dashboard, seconds. The first ones show what it waits for. The last one is repeated
 * until the deadline of what the command waits for, and begins again when it waits for something else.
 */
const WAITS_S = [3, 7, 10, 10, 10, 20, 20];
const LAST_WAIT_S = 20;
/** After a deadline, milliseconds. */
const MARGIN_MS = 15_000;

const LATE = 'No outcome was reported in time. The history shows what became of it.';

/** A refusal has its reason; what was applied, the last thing that it caused. */
const textOf = ({ reason, events }: Outcome): string => {
  const last = events.at(-1);
  return reason ?? (last === undefined ? '' : describeEvent(last.type, last.payload));
};

const followed = async (
  eventId: string,
  { outcomeOf, now }: SendDeps,
  report: (became: Sent['became']) => void,
): Promise<Sent['became']> => {
  let last: string | null = null;
  for (let question = 0, until = 0; question < WAITS_S.length || now() < until; question += 1) {
    const found = await outcomeOf(eventId, WAITS_S[question] ?? LAST_WAIT_S);
    if (found.outcome !== 'pending') return { kind: found.outcome, text: textOf(found) };
    if (found.reason !== last) report({ kind: 'asked', eventId, text: found.reason ?? '' });
    if (found.reason !== last && last !== null) question = 0;
    last = found.reason;
    until = found.until === null ? 0 : found.until + MARGIN_MS;
  }
  return { kind: 'unknown', text: last ?? LATE };
};

/** Sends the command of a button, and reports each stage until its outcome has arrived. */
export const sendAction = async (id: number, action: Action, why: string, deps: SendDeps): Promise<void> => {
  const report = (became: Sent['became']): void =>
    deps.onChange({ id, key: action.key, label: action.label, at: deps.now(), became });
  report({ kind: 'sending' });
  let eventId: string;
  try {
    eventId = await deps.write({ ...action.command, by: 'page', why });
  } catch (error) {
    const kind = error instanceof Unanswered ? 'unknown' : 'refused';
    report({ kind, text: (error as Error).message });
    return;
  }
  report({ kind: 'asked', eventId, text: '' });
  report(await followed(eventId, deps, report).catch((): Sent['became'] => ({ kind: 'unknown', text: LATE })));
};
