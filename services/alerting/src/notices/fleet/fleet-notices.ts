import type { EventOf, PayloadOf, Topic } from '@vigil/events';
import { utcTime, limitReached as words } from '@vigil/policy';
import { type About, BRAKE_ITEM, inhibit, type Noticed, raise, release, resolve } from '../notice.ts';

const ROUTE = 'fleet_brake';
const fleet = { agentId: null, taskId: null };

/** Notices about the fleet. A mass failure is one incident; the commands of people cause no notice. */
export const fleetNotices = (
  input: EventOf<typeof Topic.fleetGovernance | typeof Topic.spending>,
): readonly Noticed[] => {
  switch (input.type) {
    case 'BRAKE_ENGAGED': {
      const { agentIds, scope } = input.payload;
      const texts = brakeTexts(input.payload);
      return [
        raise(ROUTE, fleet, { severity: 'critical', ...texts, itemId: BRAKE_ITEM }),
        inhibit({ scope, agentIds, ...texts }),
      ];
    }
    case 'BRAKE_RELEASED':
      return [resolve(ROUTE, fleet, `lifted by ${input.payload.by}: ${input.payload.why}`), release()];
    case 'SPENDING_LIMIT_REACHED':
      return [limitReached(input.payload)];
    case 'SPENDING_LIMIT_LIFTED':
      return [limitLifted(input.payload)];
    case 'FLEET_HALTED':
    case 'FLEET_RESUMED':
    case 'DRY_RUN_CHANGED':
      return [];
  }
};

const MOST_NAMES = 10;

/** `scope`: fleet, host:NAME or runtime:NAME. Only agents there are held. */
const brakeTexts = ({ agentIds, scope, why }: PayloadOf<typeof Topic.fleetGovernance, 'BRAKE_ENGAGED'>) => {
  const count = agentIds.length;
  const more = count > MOST_NAMES ? ` and ${count - MOST_NAMES} more` : '';
  const text = `${why}. The first to go: ${agentIds.slice(0, MOST_NAMES).join(', ')}${more}.`;
  if (scope === 'fleet')
    return { title: `At least ${count} agents went at once: no agent of the fleet is ended`, text };
  const place = scope.replace(':', ' ');
  return {
    title: `At least ${count} agents of ${place} went at once: no agent of ${place} is ended`,
    text: `${text} Agents elsewhere are handled as usual.`,
  };
};

type Reached = PayloadOf<typeof Topic.spending, 'SPENDING_LIMIT_REACHED'>;
type Lifted = PayloadOf<typeof Topic.spending, 'SPENDING_LIMIT_LIFTED'>;
type Scoped = Pick<Reached, 'scope' | 'scopeId'>;

const SPENDING_ROUTE = 'spending_limit';

/** Agents and tasks have different names in alert keys, so each has its own alert. */
const aboutOf = ({ scope, scopeId }: Scoped): About => {
  switch (scope) {
    case 'agent':
      return { agentId: scopeId, taskId: null, of: scope };
    case 'task':
      return { agentId: null, taskId: scopeId };
    case 'day':
    case 'UNKNOWN':
      return { agentId: null, taskId: null, of: scopeId };
  }
};

const nameOf = ({ scope, scopeId }: Scoped): string => {
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
};

/** Its next calls are refused: the use, the limit, until when, and how people allow more. */
const limitReached = (reached: Reached): Noticed => {
  const { tokens, usd, limitTokens, limitUsd, until, scope } = reached;
  const used = words({ tokens: limitTokens, usd: limitUsd }, { tokens, usd }) ?? 'all is used';
  const end = until === null ? '' : ` until ${utcTime(until)}`;
  const more = `to allow more, raise spending.${scope} in the policy and apply it (vigil policy apply)`;
  return raise(SPENDING_ROUTE, aboutOf(reached), {
    title: `the spending limit of ${nameOf(reached)} is reached`,
    text: `${used}; calls are refused${end}; ${more}`,
  });
};

const limitLifted = (lifted: Lifted): Noticed =>
  resolve(SPENDING_ROUTE, aboutOf(lifted), `calls of ${nameOf(lifted)} are allowed again: ${lifted.why}`);

/** A task that is finished, left or given up makes no more calls, even if more are allowed. */
export const taskSpent = (taskId: string, text: string): Noticed =>
  resolve(SPENDING_ROUTE, aboutOf({ scope: 'task', scopeId: taskId }), text);
