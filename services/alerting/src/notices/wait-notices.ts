import type { PayloadOf, Topic } from '@vigil/events';
import { spell } from '@vigil/policy';
import { type About, type Noticed, raise, resolve } from './notice.ts';

type Overdue = PayloadOf<typeof Topic.agentHealth, 'WAIT_OVERDUE'>;
type Ended = PayloadOf<typeof Topic.agentHealth, 'WAIT_ENDED'>;

const route = 'awaiting_input';

/** Agents that share a task wait each for themselves. */
const aboutOf = (payload: Overdue | Ended): About =>
  payload.taskId === null ? payload : { ...payload, of: payload.agentId };

const WORDS = {
  permission: 'a permission',
  question: 'an answer',
  plan: 'the approval of a plan',
  prompt: 'its next instruction',
  dialog: 'an answer to a dialog',
  UNKNOWN: 'input',
} as const satisfies Record<NonNullable<Overdue['kind']>, string>;

export function overdueWait(overdue: Overdue): Noticed {
  const { agentId, since, limitMs, kind, text } = overdue;
  const asked = text ?? (kind === 'prompt' ? 'it stands at its prompt' : 'it does not report what it asks');
  return raise(route, aboutOf(overdue), {
    title: `${agentId} waits for ${WORDS[kind ?? 'UNKNOWN']}`,
    text: `since ${new Date(since).toISOString()}, for more than ${spell(limitMs)}: ${asked}`,
  });
}

export const endedWait = (ended: Ended): Noticed => resolve(route, aboutOf(ended), `${ended.agentId}: ${ended.why}`);
