import { describeEvent } from '@vigil/cli/describe';
import type { Entry } from '@vigil/read-model';
import type { Action, Sent } from '../model/commands.ts';

/** What the API reports of a command. */
export type Outcome = {
  readonly outcome: 'pending' | 'applied' | 'refused';
  /** why it was refused, or what it waits for */
  readonly reason: string | null;
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

/** How long each question about the outcome waits at the dashboard, seconds. The first ones show what it waits for. A text by hand has a minute. */
const WAITS_S = [3, 7, 10, 10, 10, 20, 20];

const LATE = 'No outcome was reported in time. The history shows what became of it.';

/** A refusal has its reason; what was applied, the last thing that it caused. */
const textOf = ({ reason, events }: Outcome): string => {
  const last = events.at(-1);
  return reason ?? (last === undefined ? '' : describeEvent(last.type, last.payload));
};

const followed = async (
  eventId: string,
  { outcomeOf }: SendDeps,
  report: (became: Sent['became']) => void,
): Promise<Sent['became']> => {
  let last: string | null = null;
  for (const waitS of WAITS_S) {
    const found = await outcomeOf(eventId, waitS);
    if (found.outcome === 'pending' && found.reason !== last)
      report({ kind: 'asked', eventId, text: found.reason ?? '' });
    last = found.reason;
    if (found.outcome !== 'pending') return { kind: found.outcome, text: textOf(found) };
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
