import { type EventOf, type PayloadOf, Topic, type WithheldWhy } from '@vigil/events';
import { EXAMPLE_TIME, example } from '@vigil/events/examples';
import { type PlannedStep, type Step, stepRecord } from '@vigil/policy';
import { given } from '@vigil/stream/testing';
import { expect } from 'vitest';
import { decider } from './case.ts';
import type { CaseDraft, CaseInput } from './state.ts';

type Warrant = PayloadOf<typeof Topic.agentHealth, 'WARRANT_FILED'>;
type Renewed = PayloadOf<typeof Topic.agentHealth, 'WARRANT_RENEWED'>;
type Receipt = PayloadOf<typeof Topic.orderReceipt, 'ORDER_RECEIPT'>;
type Health = PayloadOf<typeof Topic.agentHealth, 'HEALTH_STATE_CHANGED'>;
type Decision = PayloadOf<typeof Topic.decideCase, 'DECIDE_CASE'>;
type Request = PayloadOf<typeof Topic.decideCase, 'REQUEST_STEP'>;

export const T0 = EXAMPLE_TIME;
export const MIN = 60_000;

export const nudge = { step: 'nudge', attempts: 3, intervalMs: 10 * MIN, message: 'working for {duration}' } as const;
export const escalate = {
  step: 'escalate',
  timeoutMs: 15 * MIN,
  onTimeout: 'terminate',
  options: ['allow_more_time', 'force_handoff', 'terminate_and_recover', 'pardon'],
} as const;
export const terminate = {
  step: 'terminate',
  graceMs: 10_000,
  cleanupMs: 30_000,
  leave: 'in_progress',
  release: [],
  requires: [],
} as const;
export const interrogate = {
  step: 'interrogate',
  waitsMs: [1 * MIN, 2 * MIN, 4 * MIN],
  message: 'say {nonce} within {timeout} s, {attempt} of {attempts}',
} as const;
export const handoff = { step: 'handoff', deadlineMs: 5 * MIN, message: 'hand {task} off' } as const;
export const pause = { step: 'pause', backoffMs: 1 * MIN, message: 'go on with {task}' } as const;
export const interrupt = { step: 'interrupt', waitMs: 2 * MIN, message: 'interrupted: {reason}' } as const;
export const resume = {
  step: 'resume',
  waitMs: 10 * MIN,
  graceMs: 5_000,
  againAfterMs: 60 * MIN,
  message: 'resumed: {reason}',
} as const;
export const recover = { step: 'recover' } as const;
/** The usual plan: nudge, escalate, terminate, recover. */
export const ladder: readonly Step[] = [nudge, escalate, terminate, recover];

/** Until a terminate's receipt is overdue: time to live, grace, SIGKILL, clean-up. */
export const RECEIPT_DUE = 60_000 + 10_000 + 60_000 + 30_000;

const found: Partial<Warrant> = {
  voidAt: T0 + 24 * 60 * MIN,
  endReason: null,
  axes: ['absence'],
  hard: false,
  workedMinutes: 12,
  finding: 'You have shown no sign of work for 12 min.',
  advice: 'Continue with the next step of your task.',
  idleMinutes: 12,
  client: null,
};

export const filed = (plan: readonly PlannedStep[] = ladder, rest: Partial<Warrant> = {}) =>
  example(Topic.agentHealth, 'WARRANT_FILED', { ...found, state: 'STUCK', plan: plan.map(stepRecord), ...rest });

export const renewed = (plan: readonly PlannedStep[] = ladder, rest: Partial<Renewed> = {}) =>
  example(Topic.agentHealth, 'WARRANT_RENEWED', {
    ...found,
    state: 'STUCK',
    plan: plan.map(stepRecord),
    suspendedBy: null,
    ...rest,
  });

export const lapsed = (why: 'progress' | 'ended' | 'held' | 'new_instance', warrantId = 'warrant-1') =>
  example(Topic.agentHealth, 'WARRANT_LAPSED', { why, warrantId });

export const changed = (rest: Partial<Health>) =>
  example(Topic.agentHealth, 'HEALTH_STATE_CHANGED', { endOrderId: null, ...rest });
export const died = (rest: Partial<Health> = {}) => changed({ to: 'TERMINATED', endReason: 'crashed', ...rest });
export const started = (instanceId: string) => example(Topic.agentHealth, 'INSTANCE_STARTED', { instanceId });
export const answered = (nonce: string | null = null) =>
  example(Topic.agentHealth, 'AGENT_ANSWERED', { how: nonce === null ? 'blockers' : 'probe_reply', nonce });
export const answers = (how: 'handoff' | 'blockers' | 'self_report', text: string) =>
  example(Topic.agentHealth, 'AGENT_ANSWERED', { how, text, nonce: null });

/** Without a kind, it has the kind of its order in the story that receives it. */
export const receipt = (outcome: Receipt['outcome'], orderId: string, rest: Partial<Receipt> = {}) =>
  example(Topic.orderReceipt, 'ORDER_RECEIPT', {
    kind: 'UNKNOWN',
    outcome,
    orderId,
    confirmed: outcome === 'done',
    forced: false,
    ...rest,
  });

export const decides = (decision: Decision['decision'], rest: Partial<Decision> = {}) =>
  example(Topic.decideCase, 'DECIDE_CASE', {
    decision,
    caseId: 'case-warrant-1',
    why: 'I know it',
    forMs: null,
    question: null,
    ...rest,
  });

export const requests = (step: Request['step'], rest: Partial<Request> = {}) => ({
  ...example(Topic.decideCase, 'REQUEST_STEP', { step, why: 'it hangs', message: null, recovery: null, ...rest }),
  eventId: 'event-1',
});

export const resetAsked = (instanceId = 'worker-1.i1') => ({
  ...example(Topic.agentHealth, 'BREAKER_RESET_ASKED', { instanceId, runtimeId: 'host-1', name: 'tool_execution' }),
  eventId: 'event-2',
});

/** The kind of a receipt for an order of this type. */
const kindFor = (type: CaseDraft['type']): Receipt['kind'] =>
  type.replace(/_AGENT$/, '').toLowerCase() as Receipt['kind'];

const withKind = (input: CaseInput, emitted: readonly CaseDraft[]): CaseInput => {
  if (input.type !== 'ORDER_RECEIPT' || input.payload.kind !== 'UNKNOWN') return input;
  const order = emitted.find(
    ({ topic, payload }) => topic === Topic.agentOrder && payload.orderId === input.payload.orderId,
  );
  return order === undefined ? input : { ...input, payload: { ...input.payload, kind: kindFor(order.type) } };
};

type Asked = Extract<CaseDraft, { readonly type: 'ADMIT_STEP' }>;
type Ruled = EventOf<typeof Topic.stepRuling>;

/** A case with its governor: `admit` and `withhold` answer the newest admission asked for. */
export const agent = () => {
  const driver = given(decider, T0);
  const asked = (): Asked['payload'] => {
    const newest = driver.all().findLast((draft): draft is Asked => draft.type === 'ADMIT_STEP');
    if (newest === undefined) throw new Error('the story has asked for no admission yet');
    return newest.payload;
  };
  const named = () => ({ requestId: asked().requestId, caseId: asked().caseId, step: asked().step });
  const admitted = (rest: Partial<PayloadOf<typeof Topic.stepRuling, 'STEP_ADMITTED'>> = {}): Ruled =>
    example(Topic.stepRuling, 'STEP_ADMITTED', {
      ...named(),
      dryRun: false,
      validUntil: driver.clock().now + 30_000,
      ...rest,
    });
  const withheld = (why: WithheldWhy): Ruled =>
    example(Topic.stepRuling, 'STEP_WITHHELD', { ...named(), why, detail: 'the fleet is halted' });
  const drafts = (input: CaseInput) => driver.receive(withKind(input, driver.all()));
  return {
    ...driver,
    receive: (input: CaseInput) => words(drafts(input)),
    drafts,
    admit: (rest = {}) => words(driver.receive(admitted(rest))),
    admitted,
    withhold: (why: WithheldWhy) => words(driver.receive(withheld(why))),
    after: (ms: number) => words(driver.passTo(driver.clock().now + ms)),
    situation: () => driver.state().situation.kind,
  };
};

/** Up to the order of a terminate: the ladder without its waits. */
export const terminating = (plan: readonly Step[] = [terminate, recover]) => {
  const one = agent();
  one.receive(filed(plan));
  one.admit();
  one.admit();
  return one;
};

export const words = (drafts: readonly CaseDraft[]): readonly string[] => drafts.map(word);

/** A draft as a short line, so that a story is easy to read. */
const word = (draft: CaseDraft): string => {
  switch (draft.type) {
    case 'ADMIT_STEP':
      return `asks ${draft.payload.step} ${draft.payload.class}`;
    case 'WITHDRAW_STEP':
      return `withdraws ${draft.payload.requestId}`;
    case 'NUDGE_AGENT':
    case 'PROBE_AGENT':
    case 'HANDOFF_AGENT':
    case 'PAUSE_AGENT':
    case 'RESUME_AGENT':
    case 'INTERRUPT_AGENT':
    case 'RESUME_SESSION':
    case 'RESET_BREAKER':
    case 'TERMINATE_AGENT':
      return `order ${draft.payload.number} ${draft.type}`;
    case 'NUDGE_SENT':
      return `NUDGE_SENT ${draft.payload.attempt}/${draft.payload.of}`;
    case 'ESCALATION_TRIGGERED':
      return `ESCALATION_TRIGGERED ${draft.payload.onTimeout}`;
    case 'ESCALATION_DECIDED':
      return `ESCALATION_DECIDED ${draft.payload.decision}`;
    case 'DECISION_REFUSED':
      return `DECISION_REFUSED ${draft.payload.reason}`;
    case 'STEP_SKIPPED':
      return `STEP_SKIPPED ${draft.payload.step} ${draft.payload.why}`;
    case 'CASE_WITHHELD':
      return `CASE_WITHHELD ${draft.payload.why}`;
    case 'CASE_CLOSED':
      return `CASE_CLOSED ${draft.payload.ending}`;
    default:
      return draft.type;
  }
};

/** Nudged three times, and people are asked. */
export const asking = () => {
  const one = agent();
  one.receive(filed(ladder));
  one.admit();
  for (const _ of [2, 3]) {
    one.after(10 * MIN);
    one.admit();
  }
  expect(one.after(10 * MIN)).toEqual(['ESCALATION_TRIGGERED terminate']);
  return one;
};
