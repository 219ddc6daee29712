import { type BodyOf, type DraftWith, type PayloadOf, type RestOf, Topic } from '@vigil/events';
import { type ActiveCase, type Ending, stepName } from './active-case.ts';
import type { CaseContext } from './case-context.ts';
import type { CaseDraft } from './state.ts';

type EventTopic = typeof Topic.agentIntervention;
type OrderTopic = typeof Topic.agentOrder;
type About = ReturnType<typeof about>;
type OrderHead = ReturnType<typeof orderHead>;

/** The fields of every event of a case that name its agent and its task. */
const about = ({ caseId, agentId, instanceId, taskId, episodeId, labels }: CaseContext) => ({
  caseId,
  agentId,
  instanceId,
  taskId,
  episodeId,
  labels,
});

/** The chain that a draft belongs to. */
const chain = ({ correlationId, policy }: CaseContext) => ({ correlationId, policy });

/** An event of a case. `payload`: without the fields that name its agent and its task. */
export const caseEvent = <Type extends BodyOf<EventTopic>['type']>(
  caseContext: CaseContext,
  type: Type,
  payload: RestOf<EventTopic, Type, About>,
): DraftWith<EventTopic, Type, About> => ({
  topic: Topic.agentIntervention,
  type,
  key: caseContext.agentId,
  ...chain(caseContext),
  payload: { ...about(caseContext), ...payload },
});

export const closed = (caseContext: CaseContext, ending: Ending, why: string): CaseDraft =>
  caseEvent(caseContext, 'CASE_CLOSED', { warrantId: caseContext.warrantId, ending, why, instanceEnded: false });

/** A person's decision could not be started or completed: notifies people. */
export const decisionLapsed = (activeCase: ActiveCase, why: string): readonly CaseDraft[] => {
  const { caseContext, decision } = activeCase;
  if (!decision) return [];
  const payload = { decision: decision.kind, by: caseContext.by ?? '', step: stepName(activeCase), why };
  return [caseEvent(caseContext, 'DECISION_LAPSED', payload)];
};

export const orderId = (caseContext: CaseContext, number: number): string => `${caseContext.caseId}-${number}`;

/** Whether the case has given this order. */
export const isOrderOf = ({ caseId }: CaseContext, id: string | null): boolean =>
  id !== null && id.slice(0, id.lastIndexOf('-')) === caseId;

/** The fields of every order. An agent without a runtime gets it from the gateway by its own name, so its runtimeId is empty. */
const orderHead = (caseContext: CaseContext, number: number) => ({
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

/** An order of this number. `payload`: without the fields of every order. */
export const order = <Type extends BodyOf<OrderTopic>['type']>(
  caseContext: CaseContext,
  number: number,
  type: Type,
  payload: RestOf<OrderTopic, Type, OrderHead>,
): DraftWith<OrderTopic, Type, OrderHead> => ({
  topic: Topic.agentOrder,
  type,
  key: caseContext.agentId,
  ...chain(caseContext),
  payload: { ...orderHead(caseContext, number), ...payload },
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

/** `correlationId`: the chain of the refused command; left out: that of the present input. */
export const refusal = (agentId: string, emitted: Refusal, correlationId?: string): CaseDraft => ({
  topic: Topic.agentIntervention,
  type: 'DECISION_REFUSED',
  key: agentId,
  ...(correlationId !== undefined && { correlationId }),
  payload: { agentId, ...emitted },
});

/** The finding as it is at `at`: its time continues after the warrant. */
export const findingAt = (caseContext: CaseContext, at: number): CaseContext => {
  const { workedMinutes, figuresAt } = caseContext;
  if (workedMinutes === null || figuresAt === undefined) return caseContext;
  return { ...caseContext, workedMinutes: workedMinutes + Math.max(0, at - figuresAt) / 60_000 };
};

/** Fills {agent}, {task}, {finding}, {advice}, {duration} (the time that the finding is about), {reason}, {attempt}, {attempts}; any other brace stays as it is. */
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
