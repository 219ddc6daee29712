import type { Clock } from '@vigil/stream';
import { attempted, nudged, ordered, paused } from './acted.ts';
import { successorOf } from './answer.ts';
import { decided } from './decided.ts';
import { beginsAgain } from './freshness.ts';
import { aliveNoMore, type Ending, type Matter, type Open, opened } from './open.ts';
import { outstandingWith } from './outstanding.ts';
import { at, done } from './position.ts';
import { ASK_AGAIN_MS, answerTo, isLate, openingAnswer, type Ruling, rulingOf } from './ruling.ts';
import {
  type CaseDraft,
  type CaseInput,
  type CaseState,
  type Episode,
  inCase,
  neverOpened,
  type Situation,
  stoodAt,
} from './state.ts';
import { advanced } from './stepping.ts';
import { rulesOf } from './steps/steps.ts';

type Said<K extends CaseDraft['type']> = Extract<CaseDraft, { readonly type: K }>;

export const evolve = (state: CaseState, draft: CaseDraft, clock: Clock, input: CaseInput | null): CaseState => {
  const ruling = rulingOf(input, clock);
  const successor = successorOf(state, input);
  switch (draft.type) {
    case 'ADMIT_STEP':
      return asked({ ...state, requests: state.requests + 1 }, draft, successor);
    case 'WITHDRAW_STEP':
      return withdrawn(state, ruling, successor);
    case 'CASE_OPENED':
      return caseOpened(state, ruling);
    case 'CASE_WITHHELD':
      return inCase(state, (open) => withheld(open, draft.payload, ruling));
    case 'CASE_RESUMED':
      return inCase(state, (open) =>
        open.work.at === 'asked' ? { ...open, work: { ...open.work, withheld: null } } : open,
      );
    case 'CASE_CLOSED':
      return caseClosed(state, draft.payload, successor);
    case 'NUDGE_AGENT':
    case 'TERMINATE_AGENT':
    case 'PROBE_AGENT':
    case 'HANDOFF_AGENT':
    case 'PAUSE_AGENT':
    case 'RESUME_AGENT':
    case 'INTERRUPT_AGENT':
    case 'RESUME_SESSION':
      return ordered(state, draft, ruling);
    case 'NUDGE_SENT':
      return inCase(state, (open) => nudged(open, draft.payload.orderId, ruling));
    case 'HANDOFF_REQUESTED':
      return inCase(state, (open) =>
        beginsAgain({ ...attempted(open, ruling), handoff: draft.payload.orderId }, draft.payload.deadlineAt),
      );
    case 'AGENT_PAUSED':
      return paused(state, draft.payload.until, ruling);
    case 'AGENT_RESUMED':
      return inCase(state, (open) => ({ ...open, paused: null }));
    case 'ESCALATION_TRIGGERED':
      return inCase(state, (open) => escalated(open, draft));
    case 'ESCALATION_DECIDED':
      return decided(state, draft, clock.now);
    case 'DECISION_REFUSED':
      return refused(state, draft.payload, ruling, successor);
    case 'STEP_SKIPPED':
      return inCase(state, (open) => skipped(open, draft));
    case 'ALERT_REQUESTED':
      return inCase(state, (open) => (open.work.at === 'terminating' ? open : done(at(open, 'alert'))));
    case 'TASK_BLOCKED':
      return inCase(state, (open) => done(at(open, 'block')));
    case 'RECOVER_TASK':
      return buried(
        inCase(state, (open) => done(at(open, 'recover'))),
        draft.payload.instanceId,
      );
    case 'AGENT_TERMINATED':
      return buried(terminated(state), draft.payload.instanceId);
    case 'RESET_BREAKER':
      return { ...state, life: state.life && { ...state.life, number: draft.payload.number } };
    case 'TERMINATION_UNCONFIRMED':
    case 'DECISION_LAPSED':
    case 'SPAWN_AGENT':
    case 'ADMIT_SPAWN':
      return state;
  }
};

/** An admission is asked for: of a case that is not open yet, or of a step. */
const asked = (state: CaseState, { payload }: Said<'ADMIT_STEP'>, successor: Matter | null): CaseState => {
  const work = { at: 'asked', requestId: payload.requestId, withheld: null } as const;
  if (state.situation.at === 'open') return inCase(state, (open) => ({ ...at(open, payload.step), work }));
  const matter = nextMatter(state, payload.caseId, successor);
  if (matter === null) return state;
  return {
    ...givenUp(state),
    situation: { at: 'asking', matter: { ...matter, caseId: payload.caseId }, work, dropped: null },
    asked: matter.warrantId === null ? state.asked : counted(state, matter.warrantId),
    next: matter === state.next ? null : state.next,
  };
};

const nextMatter = ({ situation, next }: CaseState, caseId: string, successor: Matter | null): Matter | null => {
  if (situation.at === 'asking') return situation.matter;
  return successor?.caseId === caseId ? successor : next;
};

/** Another case takes the place of one whose terminate nobody has confirmed: that end may still come. */
const givenUp = (state: CaseState): CaseState =>
  state.situation.at === 'unconfirmed'
    ? { ...state, outstanding: outstandingWith(state, state.situation.open) }
    : state;

/** The governor keeps the request: the step is still asked for. */
const withheld = (open: Open, { why, detail }: Said<'CASE_WITHHELD'>['payload'], ruling: Ruling | null): Open =>
  open.work.at === 'asked' && answerTo(open.work, ruling)
    ? { ...open, work: { ...open.work, withheld: { why, detail } } }
    : open;

const counted = ({ asked }: CaseState, warrantId: string): CaseState['asked'] => ({
  warrantId,
  times: asked?.warrantId === warrantId ? asked.times + 1 : 1,
});

const withdrawn = (state: CaseState, ruling: Ruling | null, successor: Matter | null): CaseState => {
  const { situation } = state;
  if (situation.at === 'asking') {
    if (situation.work.at !== 'asked') return state;
    return openingAnswer(situation.matter, situation.work, ruling)
      ? neverOpened(state, situation.matter)
      : { ...state, situation: succeeded(successor) };
  }
  return inCase(state, (open) => ({
    ...open,
    askAgainAt: askAgainAt(open, ruling),
    withdrawing: null,
    work: open.work.at === 'asked' ? { at: 'turn' } : open.work,
  }));
};

/** The admission of the case that takes the place of another is asked for next. */
const succeeded = (successor: Matter | null): Situation =>
  successor === null ? { at: 'quiet' } : { at: 'asking', matter: successor, work: { at: 'turn' }, dropped: null };

const askAgainAt = ({ work }: Open, ruling: Ruling | null): number => {
  const answer = answerTo(work, ruling);
  return answer && isLate(answer, answer.since) ? answer.since + ASK_AGAIN_MS : 0;
};

/** The admission that opened the case is that of its first step too, where that step is what was asked for. */
const caseOpened = (state: CaseState, ruling: Ruling | null): CaseState => {
  const { situation } = state;
  if (situation.at !== 'asking') return state;
  const { matter, work } = situation;
  const answer = openingAnswer(matter, work, ruling);
  if (!answer?.admitted) return state;
  const { dryRun, since } = answer;
  const resumedAt = state.life?.resumedAt ?? null;
  const open = opened(matter, { dryRun, openedAt: since, stood: stoodAt(state, matter), resumedAt });
  const first = matter.steps[open.index];
  return {
    ...state,
    situation: { at: 'open', open: first && rulesOf(first).ruling === 'soft' ? { ...open, work } : open },
  };
};

/** An unconfirmed terminate is remembered: a late receipt continues its plan. */
const caseClosed = (
  state: CaseState,
  { caseId, ending }: Said<'CASE_CLOSED'>['payload'],
  requested: Matter | null,
): CaseState => {
  const { situation } = state;
  const open = situation.at === 'open' || situation.at === 'unconfirmed' ? situation.open : null;
  const unconfirmed = situation.at === 'open' && situation.open.work.at === 'terminating' && ending === 'failed';
  const successor = ending === 'superseded' ? requested : null;
  const rest: Situation = unconfirmed ? { at: 'unconfirmed', open: situation.open } : succeeded(successor);
  const leaves = situation.at === 'open' && !unconfirmed;
  const outstanding = leaves ? outstandingWith(state, situation.open) : (state.outstanding ?? null);
  const known = { ...state, situation: rest, last: { caseId, ending: ending as Ending }, outstanding };
  return open === null ? known : { ...known, episode: episodeAfter(state, open, ending as Ending, successor !== null) };
};

/** These leave the finding as it is: renewed, it may open the next case. */
const goesOn: ReadonlySet<Ending> = new Set(['withheld', 'expired', 'executed']);

/** A request by hand is about no episode, and one that takes a case's place settles nothing. */
const episodeAfter = ({ episode }: CaseState, open: Open, ending: Ending, isReplaced: boolean): Episode | null => {
  const { matter, plans, dryRun } = open;
  const id = matter.episodeId;
  if (id === null) return episode;
  const { withheld: _, ...known } = episode?.id === id ? episode : { id, settled: false, worked: [], rehearsed: [] };
  const settled = known.settled || !(goesOn.has(ending) || isReplaced);
  if (ending === 'withheld' || isReplaced) return { ...known, settled, ...stands(open) };
  if (ending !== 'executed') return { ...known, settled };
  const kind = dryRun ? 'rehearsed' : 'worked';
  return { ...known, settled, [kind]: [...known[kind], ...plans].slice(-8) };
};

/**
 * A case that was rehearsed or decided by people leaves nothing to go on from; nor does one that began with its present step, or was answered,
 * unless people are still asked.
 */
const stands = ({ matter, answered, dryRun, work, ...open }: Open): Pick<Episode, 'withheld'> => {
  if (dryRun || matter.by !== null) return {};
  const { index, attempt, done, nudges, doneBefore, escalated, moreTime } = open;
  const { planName } = matter;
  const step = matter.steps[index]?.step ?? '';
  const stood = { planName, step, index, attempt, done, nudges, doneBefore: doneBefore ?? [], escalated, moreTime };
  if (work.at === 'escalated')
    return { withheld: { ...stood, question: { until: work.until, options: work.options } } };
  const began = index === 0 && attempt.sent === 0 && moreTime.times === 0;
  return step === '' || began || answered ? {} : { withheld: stood };
};

const escalated = (open: Open, { payload }: Said<'ESCALATION_TRIGGERED'>): Open => ({
  ...at(open, 'escalate'),
  escalated: true,
  work: {
    at: 'escalated',
    until: payload.onTimeout === 'terminate' ? payload.deadlineAt : null,
    options: payload.options,
  },
});

const skipped = (open: Open, { payload }: Said<'STEP_SKIPPED'>): Open => {
  const there = advanced(at(open, payload.step));
  return payload.why === 'dry_run' ? { ...there, dryRun: true } : there;
};

/** A command, which leaves no trace; or a request by hand that the governor has not admitted, or that another takes the place of. */
const refused = (
  state: CaseState,
  { caseId }: Said<'DECISION_REFUSED'>['payload'],
  ruling: Ruling | null,
  successor: Matter | null,
): CaseState => {
  const { situation } = state;
  if (situation.at !== 'asking' || situation.matter.caseId !== caseId) return state;
  if (successor !== null) return { ...neverOpened(state, situation.matter), situation: succeeded(successor) };
  return openingAnswer(situation.matter, situation.work, ruling) ? neverOpened(state, situation.matter) : state;
};

const terminated = (state: CaseState): CaseState => {
  const { situation } = state;
  if (situation.at !== 'open' && situation.at !== 'unconfirmed') return state;
  const { open } = situation;
  const seen = open.work.at === 'terminating' ? open.work.receipt : null;
  const death = seen?.outcome === 'done' && seen.confirmed ? seen.death : aliveNoMore(open.matter);
  return { ...state, situation: { at: 'open', open: done({ ...open, death, ending: null }) } };
};

/** The instance is laid to rest: what is still found about its end opens no other case. */
const buried = (state: CaseState, instanceId: string | null): CaseState => ({
  ...state,
  buried: instanceId,
  outstanding: null,
  next: state.next?.instanceId === instanceId ? null : state.next,
});
