import type { PayloadOf, Topic } from '@vigil/events';
import { limitReached as words } from '@vigil/policy';
import { type About, type Noticed, raise, resolve } from './notice.ts';

type Reached = PayloadOf<typeof Topic.spending, 'SPENDING_LIMIT_REACHED'>;
type Lifted = PayloadOf<typeof Topic.spending, 'SPENDING_LIMIT_LIFTED'>;
type Scoped = Pick<Reached, 'scope' | 'scopeId'>;

const route = 'spending_limit';

/** An agent is named like no task: each has an alert of its own. */
function aboutOf({ scope, scopeId }: Scoped): About {
  switch (scope) {
    case 'agent':
      return { agentId: scopeId, taskId: null, of: scope };
    case 'task':
      return { agentId: null, taskId: scopeId };
    case 'day':
    case 'UNKNOWN':
      return { agentId: null, taskId: null, of: scopeId };
  }
}

function nameOf({ scope, scopeId }: Scoped): string {
  switch (scope) {
    case 'agent':
      return `agent ${scopeId}`;
    case 'task':
      return `task ${scopeId}`;
    case 'day':
      return `the day of policy ${scopeId}`;
    case 'UNKNOWN':
      return scopeId;
  }
}

/** Its next calls are refused: the use, the limit, until when, and how people allow more. */
export function limitReached(reached: Reached): Noticed {
  const { tokens, usd, limitTokens, limitUsd, until, scope } = reached;
  const used = words({ tokens: limitTokens, usd: limitUsd }, { tokens, usd }) ?? 'all is used';
  const end = until === null ? '' : ` until ${new Date(until).toISOString()}`;
  const more = `to allow more, raise spending.${scope} in the policy and apply it (vigil policy apply)`;
  return raise(route, aboutOf(reached), {
    title: `the spending limit of ${nameOf(reached)} is reached`,
    text: `${used}; calls are refused${end}; ${more}`,
  });
}

export const limitLifted = (lifted: Lifted): Noticed =>
  resolve(route, aboutOf(lifted), `calls of ${nameOf(lifted)} are allowed again: ${lifted.why}`);

/** A task that is finished, left or given up makes no more calls, even if more are allowed. */
export const taskSpent = (taskId: string, text: string): Noticed =>
  resolve(route, aboutOf({ scope: 'task', scopeId: taskId }), text);
