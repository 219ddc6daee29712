import type { EventOf, Topic } from '@vigil/events';
import { type Noticed, raise, resolve } from './notice.ts';
import { limitLifted, limitReached } from './spending-notices.ts';

const route = 'fleet_brake';
const fleet = { agentId: null, taskId: null };

/** What people should know about the fleet: a mass failure is one incident. What people have done themselves they know. */
export function fleetNotices(input: EventOf<typeof Topic.fleetGovernance | typeof Topic.spending>): readonly Noticed[] {
  switch (input.type) {
    case 'BRAKE_ENGAGED': {
      const { agentIds, scope, why } = input.payload;
      const title = `${agentIds.length} agents went at once (${scope}): nothing destructive happens`;
      return [raise(route, fleet, { severity: 'critical', title, text: why })];
    }
    case 'BRAKE_RELEASED':
      return [resolve(route, fleet, `lifted by ${input.payload.by}: ${input.payload.why}`)];
    case 'SPENDING_LIMIT_REACHED':
      return [limitReached(input.payload)];
    case 'SPENDING_LIMIT_LIFTED':
      return [limitLifted(input.payload)];
    case 'FLEET_HALTED':
    case 'FLEET_RESUMED':
    case 'DRY_RUN_CHANGED':
      return [];
  }
}
