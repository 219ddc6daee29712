import { stepRecord } from '@vigil/policy';
import { NEVER } from '@vigil/stream';
import { asksAgain, type ResumePoint } from './active-case.ts';
import type { CaseContext } from './case-context.ts';
import { ask, caseEvent, refusal, withdraw } from './drafts.ts';
import { isTooLate, openingAnswer, type Ruling, TOO_LATE } from './ruling.ts';
import { type CaseDraft, type CaseState, type Episode, episodeOf, resumePointOf, type Situation } from './state.ts';
import { askedAgain } from './steps/people.ts';
import { unreachable } from './steps/step.ts';
import { firstActing } from './steps/steps.ts';

type Asking = Extract<Situation, { readonly kind: 'asking' }>;

/** When an unrenewed lease ends. A finding about an end needs no lease, because the end stays. */
export const voidFrom = ({ voidAt, ended }: CaseContext): number => (ended ? NEVER : (voidAt ?? NEVER));

export const isVoid = (caseContext: CaseContext, now: number): boolean => now >= voidFrom(caseContext);

/** Unique among all requests for this agent. */
export const requestId = ({ requests }: CaseState, { caseId }: CaseContext): string => `${caseId}-r${requests + 1}`;

/** A case opens by its first admission, so that nothing opens while the fleet is halted. */
export const opening = (state: CaseState, caseContext: CaseContext): CaseDraft => {
  const earlier = state.asked?.warrantId === caseContext.warrantId ? (state.asked?.times ?? 0) : 0;
  const named =
    earlier === 0 ? caseContext : { ...caseContext, caseId: `case-${caseContext.warrantId}-${earlier + 1}` };
  const left = caseContext.steps.slice(resumePointOf(state, caseContext)?.index);
  return ask(named, { requestId: requestId(state, named), step: firstActing(left), class: 'soft' });
};

/** The effect of an answer, or of no answer, on a case that is not open yet. */
export const openingMoves = (
  state: CaseState,
  situation: Asking,
  now: number,
  given: Ruling | null,
): readonly CaseDraft[] => {
  const { caseContext, stepState, dropped } = situation;
  const over = dropped ?? (isVoid(caseContext, now) ? 'the warrant is void' : null);
  if (stepState.kind === 'turn') return [opening(state, caseContext)];
  if (stepState.kind !== 'asked') return [];
  const ruling = openingAnswer(caseContext, stepState, given);
  if (ruling === null)
    return over ? [withdraw(caseContext, stepState.requestId, over), ...refusalToPerson(caseContext, over)] : [];
  if (!ruling.admitted)
    return [
      withdraw(caseContext, ruling.requestId, 'it is refused'),
      ...refusalToPerson(caseContext, `${ruling.why}: ${ruling.detail}`),
    ];
  if (over) return [withdraw(caseContext, ruling.requestId, over), ...refusalToPerson(caseContext, over)];
  if (ruling.dryRun && isRehearsed(state.episode, caseContext))
    return [withdraw(caseContext, ruling.requestId, REHEARSED)];
  const resumePoint = resumePointOf(state, caseContext);
  const question = resumePoint && asksAgain(resumePoint, ruling.since);
  const { answers } = episodeOf(state, caseContext.episodeId ?? '');
  const asked = question && !ruling.dryRun ? [askedAgain(caseContext, question, answers)] : [];
  if (!isTooLate(ruling, now)) return [caseOpened(caseContext, ruling.dryRun, resumePoint), ...asked];
  return [withdraw(caseContext, ruling.requestId, TOO_LATE), ...refusalToPerson(caseContext, TOO_LATE)];
};

const REHEARSED = 'the dry run has reported already what this plan would do';

const isRehearsed = (episode: Episode | null, { episodeId, planName }: CaseContext): boolean =>
  episode !== null && episode.id === episodeId && episode.rehearsed.includes(planName);

/** Notifies the person who made the request. A warrant requests again when it is renewed. */
export const refusalToPerson = (caseContext: CaseContext, why: string): readonly CaseDraft[] =>
  caseContext.warrantId === null ? [refused(caseContext, why)] : [];

const refused = ({ agentId, caseId, planName, by, correlationId }: CaseContext, reason: string): CaseDraft =>
  refusal(agentId, { caseId, decision: planName, by: by ?? '', reason }, correlationId);

const caseOpened = (caseContext: CaseContext, dryRun: boolean, resumePoint: ResumePoint | null): CaseDraft => {
  const barred = unreachable(caseContext);
  const notes = [
    ...(caseContext.warrantId === null && caseContext.reason !== '' ? [caseContext.reason] : []),
    ...(barred ? [`${barred.detail}: it gets nudges, escalations and alerts only`] : []),
    ...(resumePoint
      ? [`continues with ${resumePoint.question ? 'the question to people' : resumePoint.step}, where its case stood`]
      : []),
    ...(dryRun ? ['dry run: steps only report what they would do'] : []),
  ];
  const { warrantId, by: requestedBy, state, axes, planName, runtimeId, evidence } = caseContext;
  const plan = caseContext.steps.map(stepRecord);
  const note = notes.join('; ') || null;
  const payload = { warrantId, requestedBy, state, axes, planName, plan, runtimeId, evidence, note };
  return caseEvent(caseContext, 'CASE_OPENED', payload);
};
