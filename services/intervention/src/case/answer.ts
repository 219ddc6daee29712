import { about, closed, refusal, say, withdraw } from './drafts.ts';
import { isOfFormerLife, matterIn } from './life.ts';
import { matterOfRequest } from './matter.ts';
import type { Matter, Open } from './open.ts';
import { opening, unheard } from './opening.ts';
import { resetOrder } from './reset.ts';
import type { CaseDraft, CaseInput, CaseState } from './state.ts';
import { resumed } from './steps/pause.ts';
import { handless } from './steps/step.ts';

type Decision = Extract<CaseInput, { readonly type: 'DECIDE_CASE' }>['payload'];
type Request = Extract<CaseInput, { readonly type: 'REQUEST_STEP' }>;

/** How long "more time" is where nobody says, milliseconds. */
export const defaultMoreTimeMs = 600_000;
/** How often a case may get more time while nothing progresses. */
const mostMoreTime = 2;

/** A command is answered at once: it is carried out, or refused with the reason. No other input needs an answer. */
export const answer = (state: CaseState, input: CaseInput): readonly CaseDraft[] => {
  if (isOfFormerLife(state, input)) return [];
  if (input.type === 'DECIDE_CASE') return answerDecision(state, input.payload);
  if (input.type === 'REQUEST_STEP') return answerRequest(state, input);
  return input.type === 'BREAKER_RESET_ASKED' ? [resetOrder(state, input)] : [];
};

/** The case that a request opens. How its policy recovers is taken from the present case, where the request does not say. */
export const matterAsked = (state: CaseState, request: Request): Matter =>
  matterOfRequest(request, state.life, matterIn(state) ?? state.next);

/** The case that takes the place of the present one, as a person asked for it; null: no person did, or the request is refused. */
export const successorOf = (state: CaseState, input: CaseInput | null): Matter | null => {
  if (input?.type !== 'REQUEST_STEP') return null;
  const matter = matterAsked(state, input);
  return requestRefusal(state, matter, input.payload.step) === null ? matter : null;
};

const answerDecision = (state: CaseState, command: Decision): readonly CaseDraft[] => {
  const found = openNamed(state, command.caseId);
  if (typeof found === 'string') return [refused(state, command, found)];
  const reason = against(found, command);
  if (reason !== null) return [refused(state, command, reason)];
  const { decision, forMs, by, why } = command;
  const granted = decision === 'allow_more_time' ? (forMs ?? defaultMoreTimeMs) : forMs;
  return [
    say(found.matter, {
      type: 'ESCALATION_DECIDED',
      payload: { ...about(found.matter), decision, forMs: granted, by, why },
    }),
  ];
};

const openNamed = ({ situation, agentId, last }: CaseState, caseId: string): Open | string => {
  if (situation.at === 'open' && situation.open.matter.caseId === caseId) return situation.open;
  if (last?.caseId === caseId) return `case ${caseId} is closed: it ended ${last.ending}`;
  if (situation.at === 'open') return `the open case of ${agentId} is ${situation.open.matter.caseId}, not ${caseId}`;
  if (situation.at === 'asking' && situation.matter.caseId === caseId)
    return `case ${caseId} is not open yet: the governor has not admitted it`;
  return `no case of ${agentId} is open; ${caseId} is closed or was never opened`;
};

/** What speaks against a decision, or null. */
const against = ({ work, moreTime, matter, death }: Open, { decision, forMs }: Decision): string | null => {
  if (work.at === 'terminating') return 'its terminate has been ordered: only its receipt moves the case';
  const offered = work.at === 'escalated' ? work.options : null;
  switch (decision) {
    case 'pardon':
      return null;
    case 'allow_more_time':
      if (forMs !== null && forMs <= 0) return `${forMs} ms is no time: give a positive number of milliseconds`;
      return moreTime.times < mostMoreTime ? null : `it has had more time ${moreTime.times} times without progress`;
    case 'terminate_and_recover':
      return death ? null : (handless(matter)?.detail ?? null);
    case 'force_handoff':
      return death ? 'the instance has ended already' : (handless(matter)?.detail ?? null);
    case 'UNKNOWN':
      return `there is no such decision${offered ? `; choose one of ${offered.join(', ')}` : ''}`;
  }
};

const refused = ({ agentId }: CaseState, { caseId, decision, by }: Decision, reason: string): CaseDraft =>
  refusal(agentId, { caseId, decision, by, reason });

/** By hand: takes the place of an open case, unless an order is out that cannot be taken back. */
const answerRequest = (state: CaseState, request: Request): readonly CaseDraft[] => {
  const matter = matterAsked(state, request);
  const { step } = request.payload;
  const reason = requestRefusal(state, matter, step);
  if (reason !== null)
    return [
      refusal(state.agentId, {
        caseId: openCaseId(state) ?? matter.caseId,
        decision: step,
        by: matter.by ?? '',
        reason,
      }),
    ];
  const { situation } = state;
  const why = `${matter.by} asks for ${step}`;
  switch (situation.at) {
    case 'open':
      return [
        ...inFlight(situation.open, why),
        ...(situation.open.paused ? resumed(situation.open, (state.life?.number ?? 0) + 1) : []),
        closed(situation.open.matter, 'superseded', why),
      ];
    case 'asking':
      return situation.work.at === 'asked'
        ? [...unheard(situation.matter, why), withdraw(situation.matter, situation.work.requestId, why)]
        : [];
    case 'quiet':
    case 'unconfirmed':
      return [opening(state, matter)];
  }
};

const openCaseId = ({ situation }: CaseState): string | null =>
  situation.at === 'open' ? situation.open.matter.caseId : null;

const inFlight = ({ matter, work, withdrawing }: Open, why: string): readonly CaseDraft[] => {
  const requestId = work.at === 'asked' ? work.requestId : withdrawing;
  return requestId === null ? [] : [withdraw(matter, requestId, why)];
};

const requestRefusal = ({ life, situation }: CaseState, matter: Matter, step: string): string | null => {
  if (matter.steps.length === 0)
    return `there is no step ${step} to ask for: nudge, handoff, terminate or terminate_and_recover`;
  if (life && life.instanceId !== matter.instanceId)
    return `${matter.agentId} lives as ${life.instanceId ?? 'an unnamed instance'}, not as ${matter.instanceId}`;
  if (situation.at === 'open' && situation.open.work.at === 'terminating')
    return 'a terminate has been ordered: only its receipt moves the case';
  return endedRefusal(matter, step);
};

const endedRefusal = ({ ended, agentId, instanceId }: Matter, step: string): string | null =>
  ended && step !== 'terminate_and_recover' ? `${instanceId} of ${agentId} has ended already` : null;
