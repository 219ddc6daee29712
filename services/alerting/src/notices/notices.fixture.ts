import * as agent from './agents/agent-notices.ts';
import * as fleet from './fleet/fleet-notices.ts';
import { type Noticed, type Notify, notify } from './notice.ts';
import { noPolicies } from './policy-alerts.ts';
import * as task from './tasks/task-notices.ts';

const ofNoPolicy =
  <In>(notices: (input: In) => readonly Noticed[]) =>
  (input: In): readonly Notify[] =>
    notices(input).map((one) => notify(one, null, noPolicies));

/** The notices of the mappers without alert settings in a policy. */
export const agentNotices = ofNoPolicy(agent.agentNotices);
export const taskNotices = ofNoPolicy(task.taskNotices);
export const fleetNotices = ofNoPolicy(fleet.fleetNotices);

/** A route whose policy sets no times. */
export const AS_CONFIGURED = { groupWaitMs: null, repeatMs: null } as const;
