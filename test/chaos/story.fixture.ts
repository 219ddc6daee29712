import { type EventOf, type PayloadOf, Topic, type TopicName } from '@vigil/events';
import { example } from '@vigil/events/examples';
import type { PlannedAgent } from './behaviours.ts';
import type { Chronicle, Entry, Stamped } from './chronicle.ts';

const T0 = 1_000_000;
const hangs: PlannedAgent = { name: 'hangs-0', task: 'T-hangs-0', behaviour: 'hangs', afterMs: 5000 };
const works: PlannedAgent = { name: 'works-0', task: 'T-works-0', behaviour: 'works', afterMs: 5000 };

/** An event that was written `at` seconds into the story. `numbered` sets the versions of deciders' events. */
export const emit = <T extends TopicName, K extends EventOf<T>['type']>(
  at: number,
  topic: T,
  type: K,
  payload: Partial<PayloadOf<T, K>>,
): Stamped => ({
  ...(example as (topic: T, type: K, payload: object) => EventOf<T>)(topic, type, payload),
  stampedAt: T0 + at * 1000,
  stateKey: null,
  epoch: null,
  version: null,
});

/** An agent's record, `at` seconds into the story. */
export const note = (at: number, what: string, agentId: string, more: Partial<Entry> = {}): Entry => ({
  ...{ what, agentId, instanceId: `${agentId}.i1`, taskId: 'T-hangs-0', pid: at, at: T0 + at * 1000, beside: null },
  ...more,
});

const about = { agentId: 'hangs-0', instanceId: 'hangs-0.i1', taskId: 'T-hangs-0', caseId: 'case-1' };
const replacement = {
  agentId: 'hangs-0-r1',
  taskId: 'T-hangs-0',
  deadAgentId: 'hangs-0',
  deadInstanceId: 'hangs-0.i1',
};
const when = (at: number) => ({ at: T0 + at * 1000 });

/** One agent hangs and is reminded, ended and replaced; another one works. */
export const stamped = (): readonly Stamped[] => [
  { ...emit(20, Topic.agentHealth, 'HEALTH_STATE_CHANGED', { ...about, to: 'STUCK' }), ...numbered(1) },
  { ...emit(20, Topic.agentHealth, 'WARRANT_FILED', about), ...numbered(2) },
  emit(21, Topic.agentIntervention, 'CASE_OPENED', about),
  emit(21, Topic.agentOrder, 'NUDGE_AGENT', { ...about, orderId: 'nudge-1' }),
  emit(22, Topic.orderReceipt, 'ORDER_RECEIPT', {
    ...about,
    orderId: 'nudge-1',
    kind: 'nudge',
    outcome: 'delivered',
    confirmed: false,
    ...when(22),
  }),
  emit(25, Topic.agentOrder, 'TERMINATE_AGENT', { ...about, orderId: 'end-1' }),
  emit(27, Topic.orderReceipt, 'ORDER_RECEIPT', {
    ...about,
    orderId: 'end-1',
    kind: 'terminate',
    outcome: 'done',
    confirmed: true,
    ...when(27),
  }),
  emit(27, Topic.controlAgent, 'AGENT_EXITED', { ...about, ...when(27) }),
  emit(28, Topic.agentIntervention, 'AGENT_TERMINATED', { ...about, confirmed: true }),
  emit(28, Topic.recoverTask, 'RECOVER_TASK', about),
  emit(28, Topic.agentIntervention, 'CASE_CLOSED', about),
  emit(29, Topic.agentOrder, 'SPAWN_AGENT', { ...replacement, orderId: 'spawn-1' }),
  emit(30, Topic.spawnReceipt, 'SPAWN_RECEIPT', {
    ...replacement,
    orderId: 'spawn-1',
    instanceId: 'hangs-0-r1.i1',
    outcome: 'spawned',
    ...when(30),
  }),
  { ...emit(31, Topic.taskRecovery, 'RECOVERY_COMPLETED', { taskId: 'T-hangs-0' }), key: 'T-hangs-0' },
];

export const numbered = (version: number) => ({ stateKey: 'hangs-0', epoch: 7, version });

export const noted = (): readonly Entry[] => [
  note(0, 'began', 'hangs-0', { pid: 1 }),
  note(0, 'began', 'works-0', { taskId: 'T-works-0', pid: 2 }),
  note(22, 'received nudge', 'hangs-0'),
  note(30, 'began', 'hangs-0-r1'),
];

/** The correct story, with the events of `more` and without the events of `not`. */
export const chronicle = (
  more: { readonly events?: readonly Stamped[]; readonly diary?: readonly Entry[] } = {},
  not: (event: Stamped) => boolean = () => false,
): Chronicle => ({
  planned: [hangs, works],
  events: [...stamped().filter((event) => !not(event)), ...(more.events ?? [])],
  diary: [...noted(), ...(more.diary ?? [])],
});

export const innocent = { agentId: 'works-0', instanceId: 'works-0.i1', taskId: 'T-works-0', caseId: 'case-2' };
export const guilty = about;
export const seconds = when;
