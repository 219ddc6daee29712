import { stepRecord } from '@vigil/policy';
import { about, ask, refusal, say, withdraw } from './drafts.ts';
import { asksAgain, type Matter, type Stood } from './open.ts';
import { isLate, late, openingAnswer, type Ruling } from './ruling.ts';
import { type CaseDraft, type CaseState, type Episode, type Situation, stoodAt } from './state.ts';
import { askedAgain } from './steps/escalate.ts';
import { handless } from './steps/step.ts';
import { firstActing } from './steps/steps.ts';

type Asking = Extract<Situation, { readonly at: 'asking' }>;

/** A lease that nobody has renewed. A finding about an end needs none: the end stays. */
export const isVoid = ({ voidAt, ended }: Matter, now: number): boolean => voidAt !== null && !ended && now >= voidAt;

/** Unique among everything that is ever asked for this agent. */
export const requestId = ({ requests }: CaseState, { caseId }: Matter): string => `${caseId}-r${requests + 1}`;

/** A case opens by its first admission, so that nothing opens while the fleet is halted. */
export const opening = (state: CaseState, matter: Matter): CaseDraft => {
  const earlier = state.asked?.warrantId === matter.warrantId ? (state.asked?.times ?? 0) : 0;
  const named = earlier === 0 ? matter : { ...matter, caseId: `case-${matter.warrantId}-${earlier + 1}` };
  const left = matter.steps.slice(stoodAt(state, matter)?.index);
  return ask(named, { requestId: requestId(state, named), step: firstActing(left), class: 'soft' });
};

/** What an answer, or its absence, makes of a case that is not open yet. */
export const openingMoves = (
  state: CaseState,
  situation: Asking,
  now: number,
  given: Ruling | null,
): readonly CaseDraft[] => {
  const { matter, work, dropped } = situation;
  const over = dropped ?? (isVoid(matter, now) ? 'the warrant is void' : null);
  if (work.at === 'turn') return [opening(state, matter)];
  if (work.at !== 'asked') return [];
  const ruling = openingAnswer(matter, work, given);
  if (ruling === null) return over ? [withdraw(matter, work.requestId, over), ...unheard(matter, over)] : [];
  if (!ruling.admitted)
    return [withdraw(matter, ruling.requestId, 'it is refused'), refused(matter, `${ruling.why}: ${ruling.detail}`)];
  if (over) return [withdraw(matter, ruling.requestId, over), ...unheard(matter, over)];
  if (ruling.dryRun && isRehearsed(state.episode, matter)) return [withdraw(matter, ruling.requestId, rehearsed)];
  const stood = stoodAt(state, matter);
  const question = stood && asksAgain(stood, ruling.since);
  const asked = question && !ruling.dryRun ? [askedAgain(matter, question)] : [];
  if (!isLate(ruling, now)) return [caseOpened(matter, ruling.dryRun, stood), ...asked];
  return [withdraw(matter, ruling.requestId, late), ...unheard(matter, late)];
};

const rehearsed = 'the dry run has said already what this plan would do';

const isRehearsed = (episode: Episode | null, { episodeId, planName }: Matter): boolean =>
  episode !== null && episode.id === episodeId && episode.rehearsed.includes(planName);

/** Whoever asked by hand hears of it; a warrant, renewed, asks again by itself. */
export const unheard = (matter: Matter, why: string): readonly CaseDraft[] =>
  matter.warrantId === null ? [refused(matter, why)] : [];

const refused = ({ agentId, caseId, planName, by }: Matter, reason: string): CaseDraft =>
  refusal(agentId, { caseId, decision: planName, by: by ?? '', reason });

const caseOpened = (matter: Matter, dryRun: boolean, stood: Stood | null): CaseDraft => {
  const barred = handless(matter);
  const notes = [
    ...(barred ? [`${barred.detail}: it gets nudges, escalations and alerts only`] : []),
    ...(stood ? [`goes on with ${stood.question ? 'the question to people' : stood.step}, where its case stood`] : []),
    ...(dryRun ? ['dry run: steps only say what they would do'] : []),
  ];
  return say(matter, {
    type: 'CASE_OPENED',
    payload: {
      ...about(matter),
      warrantId: matter.warrantId,
      requestedBy: matter.by,
      state: matter.state,
      axes: matter.axes,
      planName: matter.planName,
      plan: matter.steps.map(stepRecord),
      runtimeId: matter.runtimeId,
      evidence: matter.evidence,
      note: notes.join('; ') || null,
    },
  });
};
