import { type BodyOf, type PayloadOf, Topic } from '@vigil/events';
import type { Ending, Matter } from './open.ts';
import type { CaseDraft } from './state.ts';

type EventTopic = typeof Topic.agentIntervention;
/** The fields of every event of a case that name its agent and its task. */
export const about = ({ caseId, agentId, instanceId, taskId, episodeId, labels }: Matter) => ({
  caseId,
  agentId,
  instanceId,
  taskId,
  episodeId,
  labels,
});

/** The chain that a draft belongs to. */
const chain = ({ correlationId, policy }: Matter) => ({ correlationId, policy });

/** An event of a case. */
export const say = (matter: Matter, body: BodyOf<EventTopic>): CaseDraft => ({
  topic: Topic.agentIntervention,
  key: matter.agentId,
  ...chain(matter),
  ...body,
});

export const closed = (matter: Matter, ending: Ending, why: string): CaseDraft =>
  say(matter, {
    type: 'CASE_CLOSED',
    payload: { ...about(matter), warrantId: matter.warrantId, ending, why, instanceEnded: false },
  });

export const orderId = (matter: Matter, number: number): string => `${matter.caseId}-${number}`;

/** Whether the case has given this order. */
export const isOrderOf = ({ caseId }: Matter, id: string | null): boolean =>
  id !== null && id.slice(0, id.lastIndexOf('-')) === caseId;

/** The fields of every order. An agent without a runtime gets it from the gateway by its own name, so its runtimeId is empty. */
export const orderHead = (matter: Matter, number: number) => ({
  orderId: orderId(matter, number),
  number,
  agentId: matter.agentId,
  instanceId: matter.instanceId,
  runtimeId: matter.runtimeId ?? '',
  caseId: matter.caseId,
  taskId: matter.taskId,
  foldedSequence: matter.foldedSequence,
  axes: matter.axes,
  // The matter of a case that was open before findings said it has none.
  awaits: matter.awaits ?? null,
});

export const order = (matter: Matter, body: BodyOf<typeof Topic.agentOrder>): CaseDraft => ({
  topic: Topic.agentOrder,
  key: matter.agentId,
  ...chain(matter),
  ...body,
});

type Asked = Pick<PayloadOf<typeof Topic.admitStep, 'ADMIT_STEP'>, 'requestId' | 'step' | 'class'>;

/** The governor is asked. */
export const ask = (matter: Matter, asked: Asked): CaseDraft => ({
  topic: Topic.admitStep,
  type: 'ADMIT_STEP',
  key: 'fleet',
  ...chain(matter),
  payload: { ...about(matter), ...asked, runtimeId: matter.runtimeId },
});

export const withdraw = (matter: Matter, requestId: string, why: string): CaseDraft => ({
  topic: Topic.admitStep,
  type: 'WITHDRAW_STEP',
  key: 'fleet',
  ...chain(matter),
  payload: { requestId, caseId: matter.caseId, agentId: matter.agentId, why },
});

type Refusal = Omit<PayloadOf<EventTopic, 'DECISION_REFUSED'>, 'agentId'>;

export const refusal = (agentId: string, said: Refusal): CaseDraft => ({
  topic: Topic.agentIntervention,
  type: 'DECISION_REFUSED',
  key: agentId,
  payload: { agentId, ...said },
});

/** Fills {agent}, {task}, {finding}, {advice}, {duration} (since the last checkpoint), {reason}, {attempt}, {attempts}; any other brace stays as it is. */
export const fill = (template: string, matter: Matter, attempt = 1, attempts = 1): string => {
  const values: Readonly<Record<string, string>> = {
    agent: matter.agentId,
    task: matter.taskId ?? matter.agentId,
    finding: matter.finding || matter.reason,
    advice: matter.advice,
    duration: spelled(matter.workedMinutes),
    reason: matter.reason,
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
