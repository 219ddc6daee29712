import { type EventOf, Topic, type WithheldWhy } from '@vigil/events';
import type { Clock } from '@vigil/stream';
import type { StepState } from './active-case.ts';
import type { CaseContext } from './case-context.ts';
import type { CaseInput } from './state.ts';

/** The governor's answer to a request. `since`: when it was given, or read where that is later. */
export type Ruling = { readonly requestId: string; readonly since: number } & (
  | { readonly admitted: true; readonly dryRun: boolean; readonly validUntil: number }
  | { readonly admitted: false; readonly why: WithheldWhy; readonly detail: string }
);

const isRuling = (input: CaseInput): input is EventOf<typeof Topic.stepRuling> => input.topic === Topic.stepRuling;

/**
 * The ruling that an input carries, or null. It is given in answer to a command, so its time is at least the broker's. This holds also where
 * this case still reads records of an hour ago. What is done for the ruling is done at its time, and its waits run from then.
 */
export const rulingOf = (input: CaseInput | null, { now }: Clock): Ruling | null => {
  if (input === null || !isRuling(input)) return null;
  const since = Math.max(now, input.occurredAt);
  const { type, payload } = input;
  return type === 'STEP_ADMITTED'
    ? { since, admitted: true, requestId: payload.requestId, dryRun: payload.dryRun, validUntil: payload.validUntil }
    : { since, admitted: false, requestId: payload.requestId, why: payload.why, detail: payload.detail };
};

/**
 * The ruling, where it answers what is asked now and brings news; else null. A ruling on anything else is late, and the governor has its admission back. One
 * that withholds for the reason that the case has announced is not news.
 */
export const answerTo = (stepState: StepState, ruling: Ruling | null): Ruling | null => {
  if (ruling === null || stepState.kind !== 'asked' || stepState.requestId !== ruling.requestId) return null;
  return !ruling.admitted && stepState.withheld?.why === ruling.why ? null : ruling;
};

/** The governor keeps the request of a case that is not open yet. A person's request is refused instead of kept. */
export const openingAnswer = (
  { warrantId }: CaseContext,
  stepState: StepState,
  ruling: Ruling | null,
): Ruling | null => {
  const isKept = ruling !== null && !ruling.admitted && ruling.why !== 'queue_full' && warrantId !== null;
  return isKept ? null : answerTo(stepState, ruling);
};

/** When the case acts on a ruling; null: it acts on none. */
export const actsAt = (stepState: StepState, ruling: Ruling | null): number | null =>
  answerTo(stepState, ruling)?.since ?? null;

/** Wait before the next request, milliseconds: a governor whose time stands still would be late again. */
const ASK_AGAIN_MS = 10_000;
/** The same, after a queue that was full. */
const QUEUE_WAIT_MS = 60_000;

/** Why an expired ruling has no effect. */
export const TOO_LATE = 'blind: the ruling came late, as the time of the governor stands still or lags';

/** The admission has expired. */
export const isTooLate = (ruling: Ruling, now: number): boolean => ruling.admitted && ruling.validUntil < now;

/** When the step is requested again after this ruling; 0: at once, because the ruling was used or refused. */
export const asksAgainAt = (ruling: Ruling): number => {
  if (!ruling.admitted) return ruling.why === 'queue_full' ? ruling.since + QUEUE_WAIT_MS : 0;
  return isTooLate(ruling, ruling.since) ? ruling.since + ASK_AGAIN_MS : 0;
};
