import { type BodyOf, type PayloadOf, Topic } from '@vigil/events';
import type { CaseContext, CaseDraft, Ending } from './state.ts';

type EventTopic = typeof Topic.agentIntervention;
/** The fields of every event of a case that name its agent and its task. */
export const about = ({ caseId, agentId, instanceId, taskId, episodeId, labels }: CaseContext) => ({
  caseId,
  agentId,
  instanceId,
  taskId,
  episodeId,
  labels,
});

/** The chain that a draft belongs to. */
const chain = ({ correlationId, policy }: CaseContext) => ({ correlationId, policy });

/** An event of a case. */
export const caseEvent = (caseContext: CaseContext, body: BodyOf<EventTopic>): CaseDraft => ({
  topic: Topic.agentIntervention,
  key: caseContext.agentId,
  ...chain(caseContext),
  ...body,
});

export const closed = (caseContext: CaseContext, ending: Ending, why: string): CaseDraft =>
  caseEvent(caseContext, {
    type: 'CASE_CLOSED',
    payload: { ...about(caseContext), warrantId: caseContext.warrantId, ending, why, instanceEnded: false },
  });

export const orderId = (caseContext: CaseContext, number: number): string => `${caseContext.caseId}-${number}`;

/** Whether the case has given this order. */
export const isOrderOf = ({ caseId }: CaseContext, id: string | null): boolean =>
  id !== null && id.slice(0, id.lastIndexOf('-')) === caseId;

/** The fields of every order. An agent without a runtime gets it from the gateway by its own name, so its runtimeId is empty. */
export const orderHead = (caseContext: CaseContext, number: number) => ({
  orderId: orderId(caseContext, number),
  number,
  agentId: caseContext.agentId,
  instanceId: caseContext.instanceId,
  runtimeId: caseContext.runtimeId ?? '',
  caseId: caseContext.caseId,
  taskId: caseContext.taskId,
  foldedSequence: caseContext.foldedSequence,
  axes: caseContext.axes,
  // A case that is older than this field has none.
  awaits: caseContext.awaits ?? null,
});

export const order = (caseContext: CaseContext, body: BodyOf<typeof Topic.agentOrder>): CaseDraft => ({
  topic: Topic.agentOrder,
  key: caseContext.agentId,
  ...chain(caseContext),
  ...body,
});

type Asked = Pick<PayloadOf<typeof Topic.admitStep, 'ADMIT_STEP'>, 'requestId' | 'step' | 'class'>;

/** The governor is asked. */
export const ask = (caseContext: CaseContext, asked: Asked): CaseDraft => ({
  topic: Topic.admitStep,
  type: 'ADMIT_STEP',
  key: 'fleet',
  ...chain(caseContext),
  payload: { ...about(caseContext), ...asked, runtimeId: caseContext.runtimeId },
});

export const withdraw = (caseContext: CaseContext, requestId: string, why: string): CaseDraft => ({
  topic: Topic.admitStep,
  type: 'WITHDRAW_STEP',
  key: 'fleet',
  ...chain(caseContext),
  payload: { requestId, caseId: caseContext.caseId, agentId: caseContext.agentId, why },
});

type Refusal = Omit<PayloadOf<EventTopic, 'DECISION_REFUSED'>, 'agentId'>;

export const refusal = (agentId: string, emitted: Refusal): CaseDraft => ({
  topic: Topic.agentIntervention,
  type: 'DECISION_REFUSED',
  key: agentId,
  payload: { agentId, ...emitted },
});

/** Fills {agent}, {task}, {finding}, {advice}, {duration} (since the last checkpoint), {reason}, {attempt}, {attempts}; any other brace stays as it is. */
export const fill = (template: string, caseContext: CaseContext, attempt = 1, attempts = 1): string => {
  const values: Readonly<Record<string, string>> = {
    agent: caseContext.agentId,
    task: caseContext.taskId ?? caseContext.agentId,
    finding: caseContext.finding || caseContext.reason,
    advice: caseContext.advice,
    duration: spelled(caseContext.workedMinutes),
    reason: caseContext.reason,
    attempt: String(attempt),
    attempts: String(attempts),
  };
  return template.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
};

const spelled = (minutes: number | null): string => {
  if (minutes === null) return 'some time';
  const seconds = Math.round(minutes * 60);
  if (seconds === 1) return '1 second';
  return minutes < 2 ? `${seconds} seconds` : `${Math.round(minutes)} minutes`;
};
