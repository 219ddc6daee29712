import { attempted, nudged, ordered, paused } from './acted.ts';
import { decided } from './decided.ts';
import { beginsAgain } from './freshness.ts';
import { ASK_AGAIN_MS, isLate } from './late.ts';
import { aliveNoMore, type Ending, type Open, opened } from './open.ts';
import { outstandingWith } from './outstanding.ts';
import { at, done } from './position.ts';
import { type CaseDraft, type CaseState, type Episode, inCase, neverOpened, type Situation, stoodAt } from './state.ts';
import { advanced } from './stepping.ts';
import { rulesOf } from './steps/steps.ts';

type Said<K extends CaseDraft['type']> = Extract<CaseDraft, { readonly type: K }>;

export const evolve = (state: CaseState, draft: CaseDraft): CaseState => {
  switch (draft.type) {
    case 'ADMIT_STEP':
      return asked({ ...state, requests: state.requests + 1 }, draft);
    case 'WITHDRAW_STEP':
      return withdrawn(state);
    case 'CASE_OPENED':
      return caseOpened(state);
    case 'CASE_WITHHELD':
      return inCase(state, (open) => withheld(open, draft.payload));
    case 'CASE_RESUMED':
      return inCase(state, (open) =>
        open.work.at === 'ruled' ? { ...open, work: { ...open.work, withheld: null } } : open,
      );
    case 'CASE_CLOSED':
      return caseClosed(state, draft.payload);
    case 'NUDGE_AGENT':
    case 'TERMINATE_AGENT':
    case 'PROBE_AGENT':
    case 'HANDOFF_AGENT':
    case 'PAUSE_AGENT':
    case 'RESUME_AGENT':
    case 'INTERRUPT_AGENT':
    case 'RESUME_SESSION':
      return ordered(state, draft);
    case 'NUDGE_SENT':
      return inCase(state, (open) => nudged(open, draft.payload.orderId));
    case 'HANDOFF_REQUESTED':
      return inCase(state, (open) =>
        beginsAgain({ ...attempted(open), handoff: draft.payload.orderId }, draft.payload.deadlineAt),
      );
    case 'AGENT_PAUSED':
      return paused(state, draft.payload.until);
    case 'AGENT_RESUMED':
      return inCase(state, (open) => ({ ...open, paused: null }));
    case 'ESCALATION_TRIGGERED':
      return inCase(state, (open) => escalated(open, draft));
    case 'ESCALATION_DECIDED':
      return decided(state, draft);
    case 'DECISION_REFUSED':
      return refused(state, draft.payload);
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
      return { ...state, word: null, life: state.life && { ...state.life, number: draft.payload.number } };
    case 'TERMINATION_UNCONFIRMED':
    case 'DECISION_LAPSED':
    case 'SPAWN_AGENT':
    case 'ADMIT_SPAWN':
      return state;
  }
};

/** An admission is asked for: of a case that is not open yet, or of a step. */
const asked = (state: CaseState, { payload }: Said<'ADMIT_STEP'>): CaseState => {
  const work = { at: 'asked', requestId: payload.requestId, withheld: null } as const;
  if (state.situation.at === 'open') return inCase(state, (open) => ({ ...at(open, payload.step), work }));
  const matter = state.word?.kind === 'request' ? state.word.matter : state.next;
  if (matter === null) return state;
  return {
    ...givenUp(state),
    situation: { at: 'asking', matter: { ...matter, caseId: payload.caseId }, work, dropped: null },
    asked: matter.warrantId === null ? state.asked : counted(state, matter.warrantId),
    next: matter === state.next ? null : state.next,
    word: null,
  };
};

/** Another case takes the place of one whose terminate nobody has confirmed: that end may still come. */
const givenUp = (state: CaseState): CaseState =>
  state.situation.at === 'unconfirmed'
    ? { ...state, outstanding: outstandingWith(state, state.situation.open) }
    : state;

/** The governor keeps the request: the step is still asked for. */
const withheld = (open: Open, { why, detail }: Said<'CASE_WITHHELD'>['payload']): Open =>
  open.work.at === 'ruled'
    ? { ...open, work: { at: 'asked', requestId: open.work.ruling.requestId, withheld: { why, detail } } }
    : open;

const counted = ({ asked }: CaseState, warrantId: string): CaseState['asked'] => ({
  warrantId,
  times: asked?.warrantId === warrantId ? asked.times + 1 : 1,
});

const withdrawn = (state: CaseState): CaseState => {
  const { situation } = state;
  if (situation.at === 'asking')
    return situation.work.at === 'ruled'
      ? neverOpened(state, situation.matter)
      : { ...state, situation: { at: 'quiet' } };
  return inCase(state, (open) => ({
    ...open,
    askAgainAt: askAgainAt(open),
    withdrawing: null,
    work: open.work.at === 'asked' || open.work.at === 'ruled' ? { at: 'turn' } : open.work,
  }));
};

const askAgainAt = ({ work }: Open): number =>
  work.at === 'ruled' && isLate(work.ruling, work.since) ? work.since + ASK_AGAIN_MS : 0;

/** The admission that opened the case is that of its first step too, where that step is what was asked for. */
const caseOpened = (state: CaseState): CaseState => {
  const { situation } = state;
  if (situation.at !== 'asking' || situation.work.at !== 'ruled' || !situation.work.ruling.admitted) return state;
  const { matter, work } = situation;
  const { dryRun } = situation.work.ruling;
  const resumedAt = state.life?.resumedAt ?? null;
  const open = opened(matter, { dryRun, openedAt: work.since, stood: stoodAt(state, matter), resumedAt });
  const first = matter.steps[open.index];
  return {
    ...state,
    situation: { at: 'open', open: first && rulesOf(first).ruling === 'soft' ? { ...open, work } : open },
  };
};

/** An unconfirmed terminate is remembered: a late receipt continues its plan. */
const caseClosed = (state: CaseState, { caseId, ending }: Said<'CASE_CLOSED'>['payload']): CaseState => {
  const { situation } = state;
  const open = situation.at === 'open' || situation.at === 'unconfirmed' ? situation.open : null;
  const unconfirmed = situation.at === 'open' && situation.open.work.at === 'terminating' && ending === 'failed';
  const rest: Situation = unconfirmed ? { at: 'unconfirmed', open: situation.open } : { at: 'quiet' };
  const leaves = situation.at === 'open' && !unconfirmed;
  const outstanding = leaves ? outstandingWith(state, situation.open) : (state.outstanding ?? null);
  const known = { ...state, situation: rest, last: { caseId, ending: ending as Ending }, outstanding };
  return open === null ? known : { ...known, episode: episodeAfter(state, open, ending as Ending) };
};

/** These leave the finding as it is: renewed, it may open the next case. */
const goesOn: ReadonlySet<Ending> = new Set(['withheld', 'expired', 'executed']);

/** A request by hand is about no episode, and one that takes a case's place settles nothing. */
const episodeAfter = ({ episode, word }: CaseState, open: Open, ending: Ending): Episode | null => {
  const { matter, plans, dryRun } = open;
  const id = matter.episodeId;
  if (id === null) return episode;
  const { withheld: _, ...known } = episode?.id === id ? episode : { id, settled: false, worked: [], rehearsed: [] };
  const settled = known.settled || !(goesOn.has(ending) || word?.kind === 'request');
  if (ending === 'withheld' || word?.kind === 'request') return { ...known, settled, ...stands(open) };
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

/** A word, or a request that another takes the place of: that one is still to be answered. */
const refused = (state: CaseState, { caseId }: Said<'DECISION_REFUSED'>['payload']): CaseState => {
  const { situation, word } = state;
  const isAsking = situation.at === 'asking' && (situation.work.at === 'ruled' || word?.kind === 'request');
  return isAsking && situation.matter.caseId === caseId
    ? neverOpened(state, situation.matter)
    : { ...state, word: null };
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
