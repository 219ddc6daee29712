import type { Clock, Decider } from '@vigil/stream';
import { NEVER } from '@vigil/stream';
import { clockChanged } from '../announce/clock.ts';
import { controlsAnswered } from '../announce/control.ts';
import type { Announcement, AnnouncementContext } from '../announce/events.ts';
import { exemptionChanged, stateChanged } from '../announce/health.ts';
import { holdsAnswered } from '../announce/hold.ts';
import { answered, breakersChanged, duplicateInstance, instanceStarted, resetsAsked } from '../announce/instance.ts';
import { lostFrom, presenceChanged, withPresentPlace } from '../announce/presence.ts';
import { spendingCounted } from '../announce/spending.ts';
import { taskChanged } from '../announce/task.ts';
import { ticketsFiled } from '../announce/ticket.ts';
import { overdueFrom, waitChanged } from '../announce/wait.ts';
import { quietFrom, renewalOf, warrantFiled, warrantKept } from '../announce/warrant.ts';
import { nextAttempt } from '../history/calls/breakers.ts';
import { endedBySilence, lostForGoodFrom } from '../history/history.ts';
import { momentOn } from '../history/moment.ts';
import { excusedUntil, excusesOf } from '../judgement/excuses.ts';
import { isHeld, type Judgement, judge, REMEMBERED_MS } from '../judgement/judge.ts';
import { lastKept, type Policies } from '../judgement/policies.ts';
import { plansFor, type Rules } from '../judgement/rules.ts';
import { ticketsDue } from '../judgement/tickets.ts';
import { wakesAt } from './deferral.ts';
import { evolve, evolved } from './evolve.ts';
import { type Observation, observe } from './observe.ts';
import { type AgentState, type Announced, filedInEpisode, type KnownAgent, UNSEEN } from './state.ts';

export type { Announcement } from '../announce/events.ts';
export type { Observation } from './observe.ts';

const NOTHING: readonly Announcement[] = [];

/** The announcements in order. Each gets the state after the events of the previous ones. */
const ANNOUNCEMENTS: readonly ((context: AnnouncementContext) => readonly Announcement[])[] = [
  instanceStarted,
  duplicateInstance,
  answered,
  resetsAsked,
  holdsAnswered,
  controlsAnswered,
  stateChanged,
  exemptionChanged,
  waitChanged,
  clockChanged,
  breakersChanged,
  ticketsFiled,
  warrantKept,
  warrantFiled,
  presenceChanged,
  spendingCounted,
  taskChanged,
];

/** Decides from the state and the clock alone. */
export type AgentHealth = Omit<Decider<AgentState, Observation, Announcement>, 'decide' | 'evolve'> & {
  readonly decide: (state: AgentState, clock: Clock) => readonly Announcement[];
  readonly evolve: (state: AgentState, event: Announcement) => AgentState;
  readonly wakesAt: (before: AgentState, after: AgentState, clock: Clock) => number;
  readonly forgets: (state: AgentState, clock: Clock) => boolean;
};

/** The decider of one agent: it folds heartbeats, derives state and warrant, and announces changes. */
export const agentHealth = (policies: Policies): AgentHealth => {
  const judgementOf = lastKept((state: KnownAgent, clock: Clock) => judgementAt(policies, state, clock));
  const decide = lastKept((state: KnownAgent, clock: Clock) =>
    announcements(policies, lapsed(state, clock), judgementOf(state, clock)),
  );
  return {
    initial: UNSEEN,
    observe: (state, input, clock) => withPresentPlace(state, observe(policies, state, input, clock)),
    decide: (state, clock) => (state.kind === 'unseen' ? [] : decide(policies.current(state), clock)),
    evolve,
    dueAt: (state, clock) => {
      if (state.kind === 'unseen') return NEVER;
      const known = policies.current(state);
      return decide(known, clock).length > 0
        ? clock.now
        : nextOf(policies, lapsed(known, clock), judgementOf(known, clock));
    },
    wakesAt: (before, after, clock) => wakesAt(policies, before, after, clock),
    forgets: (state, clock) => state.kind === 'known' && clock.now >= forgetAt(state) && isClosed(state.announced),
  };
};

/** The state to judge: long silence ends an agent without a reported end. */
const lapsed = (state: KnownAgent, { now }: Clock): KnownAgent => {
  const history = endedBySilence(state.history, now);
  return history === state.history ? state : { ...state, history };
};

/** Whether other services have nothing open about the agent: no task, presence, warrant or other announced state. */
const isClosed = ({ warrant, wait, clock, presentInstance, task, breakers }: Announced): boolean => {
  const holds = task !== null && task.state !== 'TERMINATED';
  const isWaiting = wait !== null || clock !== undefined;
  return warrant === null && !isWaiting && presentInstance === 0 && !holds && Object.keys(breakers).length === 0;
};

export const judgementAt = (policies: Policies, known: KnownAgent, clock: Clock): Judgement => {
  const state = lapsed(known, clock);
  const rules = policies.rules(state.policy);
  const judgement = judge(rules, state.history, momentOn(state.history.axis, clock), !state.excluded);
  return isEnding(rules, state, judgement) ? standing(rules, state, judgement) : judgement;
};

/** Whether an unhealthy agent is exiting. That it now lacks nothing is not a recovery. */
const isEnding = (
  rules: Rules,
  { excluded, instanceNumber, history, announced }: KnownAgent,
  judgement: Judgement,
): boolean => {
  const isExiting = history.end === null && history.activity.value === 'exiting';
  if (!isExiting || excluded || isHeld(rules, judgement)) return false;
  return announced.instanceNumber === instanceNumber && announced.state !== 'HEALTHY' && judgement.state === 'HEALTHY';
};

/** Keeps the last announced state until the end is reported, or until the agent reports another activity. */
const standing = (rules: Rules, { history, announced }: KnownAgent, judgement: Judgement): Judgement => {
  const { warrant } = announced;
  const plan = warrant && plansFor(rules.plans, history).find(({ name }) => name === warrant.plan);
  return { ...judgement, state: announced.state, onsetAt: null, plan: plan ?? judgement.plan };
};

const announcements = (policies: Policies, state: KnownAgent, judgement: Judgement): readonly Announcement[] => {
  const rules = policies.rules(state.policy);
  const fresh = state.announced.instanceNumber !== state.instanceNumber;
  let emitted: Announcement[] | null = null;
  let context: AnnouncementContext = { state, rules, judgement, fresh };
  for (const announce of ANNOUNCEMENTS)
    for (const event of announce(context)) {
      emitted ??= [];
      emitted.push(event);
      context = { state: evolved(context.state, event), rules, judgement, fresh };
    }
  return emitted ?? NOTHING;
};

/** The next time at which an event may be due. */
const nextOf = (policies: Policies, state: KnownAgent, judgement: Judgement): number => {
  const rules = policies.rules(state.policy);
  const { warrant, presentInstance, presentUntil } = state.announced;
  const lost = presentInstance === 0 ? NEVER : lostFrom(state.history, rules, judgement.at);
  const repeat = presentInstance === 0 ? NEVER : presentUntil;
  const renewal = warrant ? renewalOf(warrant.voidAt, quietFrom(state.history), rules.policy.warrant) : NEVER;
  const halfOpen = nextAttempt(state.history.breakers, judgement.at.now);
  const ticket = nextTicket(rules, state, judgement);
  const overdue = ahead(overdueFrom(state, rules, judgement), judgement.at.now);
  return Math.min(judgement.next, lost, repeat, renewal, halfOpen, ticket, overdue, forgetAt(state));
};

const ahead = (moment: number, now: number): number => (moment > now ? moment : NEVER);

const nextTicket = (rules: Rules, state: KnownAgent, judgement: Judgement): number => {
  const before = filedInEpisode(state);
  const filesAgain = before !== null && before.unexcused !== before.severity;
  const excuses = excusesOf(rules, state.history, judgement);
  let next: number = NEVER;
  for (const { from, severity } of ticketsDue(rules, state.history, judgement)) {
    const due = filesAgain ? Math.max(from, excusedUntil(excuses, before.dismissedAt[severity] ?? null)) : from;
    if (due > judgement.at.now) next = Math.min(next, due);
    if (from > judgement.at.now) next = Math.min(next, from);
  }
  return next;
};

const forgetAt = ({ history }: KnownAgent): number =>
  Math.min(lostForGoodFrom(history), history.end ? history.end.at + REMEMBERED_MS : NEVER);
