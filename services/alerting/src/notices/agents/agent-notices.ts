import type { EscalationAnswer, EventOf, PayloadOf, PolicyRef, Topic } from '@vigil/events';
import { spell, utcTime } from '@vigil/policy';
import { taskSpent } from '../fleet/fleet-notices.ts';
import {
  type About,
  inWords,
  type Noticed,
  outputOf,
  raise,
  resolve,
  settle,
  settleByPardon,
  startAgain,
} from '../notice.ts';
import { aboutWait, requestNotices, WAIT_ROUTE } from '../questions/request-notices.ts';
import { ticketNotices, ticketOver } from '../questions/ticket-notices.ts';
import { breakerNotices } from '../tasks/breaker-notices.ts';

type Input = EventOf<typeof Topic.agentHealth | typeof Topic.agentIntervention | typeof Topic.agentRequest>;
type StateChanged = PayloadOf<typeof Topic.agentHealth, 'HEALTH_STATE_CHANGED'>;

const ROUTE = 'stuck_agent';
/** A step of a plan leaves the task to people. */
export const BLOCKED_ROUTE = 'task_blocked';

/** Critical where the policy sets no severity. It never overrides the policy's: it raises the urgency. */
const GRAVE = { usual: 'critical', urgency: 'high' } as const;

/** What people should know about an agent: one alert an episode, for all that happens in it. */
export const agentNotices = (input: Input): readonly Noticed[] => {
  switch (input.type) {
    case 'HEALTH_STATE_CHANGED':
      return [...stateNotices(input.payload), ...leftNotices(input.payload), ...finishedNotices(input.payload)];
    case 'CIRCUIT_BREAKER_STATE_CHANGED':
      return breakerNotices(input.payload);
    case 'ESCALATION_TRIGGERED': {
      const { agentId, caseId, reason, options, deadlineAt, onTimeout, checkpoint, answers } = input.payload;
      const waits = deadlineAt === null ? '' : `; without an answer: ${onTimeout}`;
      const text = `${reason}${waits}${answered(answers)}; case/${caseId} of \`vigil inbox\``;
      const question = { options, deadlineAt, onTimeout, askedAt: input.occurredAt };
      const request = { ...question, checkpoint, itemId: `case/${caseId}` };
      const title = `${agentId} waits for a decision`;
      return [raise(ROUTE, input.payload, { ...GRAVE, title, text, ...request })];
    }
    case 'ESCALATION_DECIDED': {
      const { agentId, decision, by, why } = input.payload;
      const details = { title: `${agentId}: ${inWords(decision)}, decided by ${by}`, text: why };
      return [(decision === 'pardon' ? settleByPardon : settle)(ROUTE, input.payload, details)];
    }
    case 'CASE_CLOSED': {
      const { agentId, ending, why, instanceEnded } = input.payload;
      if (instanceEnded) return [resolve(ROUTE, input.payload, `${agentId} has ended: ${why}`)];
      return [
        settle(ROUTE, input.payload, { title: `${agentId}: its case is closed as ${inWords(ending)}`, text: why }),
      ];
    }
    case 'DECISION_LAPSED': {
      const { agentId, decision, by, why } = input.payload;
      const about = { ...input.payload, of: 'decision' };
      const title = `${agentId}: ${inWords(decision)} was not carried out, as ${by} had decided`;
      const text = `${why}; it is not done any more: decide again where it is still right`;
      // Only its delivery ends this alert.
      return [raise(ROUTE, about, { title, text }), resolve(ROUTE, about, text)];
    }
    case 'ALERT_REQUESTED': {
      const { severity, channel, title, answers } = input.payload;
      const text = `${input.payload.text}${answered(answers)}`;
      const own = severity === 'UNKNOWN' ? {} : { severity };
      return [raise(ROUTE, input.payload, { ...own, channel, title, text })];
    }
    case 'HANDOFF_REQUESTED': {
      const { agentId, asked } = input.payload;
      if (asked === null) return [];
      const title = `${agentId} prepares the handoff that it asked for`;
      return [settle(ROUTE, input.payload, { title, text: `the agent answers (handoff): ${JSON.stringify(asked)}` })];
    }
    case 'TERMINATION_UNCONFIRMED': {
      const { agentId, why } = input.payload;
      const title = `${agentId}: its end is not confirmed, nothing is spawned`;
      return [raise(ROUTE, input.payload, { ...GRAVE, title, text: why })];
    }
    case 'TASK_BLOCKED': {
      const { agentId, taskId, reason, attempt, checkpoint, endedByItself } = input.payload;
      const title = `${taskId ?? agentId} is blocked: it waits for a person`;
      // Each attempt so far has stalled, this one as well.
      const blocked = { attempts: attempt === null ? null : attempt + 1, limit: null, reason, endedByItself };
      const itemId = `task/${taskId ?? agentId}`;
      return [raise(BLOCKED_ROUTE, input.payload, { title, text: reason, blocked, checkpoint, itemId })];
    }
    case 'WORKER_ESCALATION_TICKET':
      return ticketNotices(input.payload);
    case 'REQUEST_OPENED':
    case 'REQUEST_ANSWERED':
    case 'REQUEST_WITHDRAWN':
    case 'REQUEST_EXPIRED':
    case 'REQUEST_REFUSED':
    case 'ANSWER_REFUSED':
      return requestNotices(input);
    case 'WAIT_OVERDUE':
      return [overdueWait(input.payload)];
    case 'WAIT_ENDED':
      return [endedWait(input.payload)];
    case 'CLOCK_DRIFTED':
      return [driftedClock(input.payload)];
    case 'CLOCK_DRIFT_ENDED':
      return [resolve(CLOCK_ROUTE, aboutClock(input.payload), `${input.payload.agentId}: ${input.payload.why}`)];
    case 'INSTANCE_STARTED':
      return [
        ...unblocked(input.payload, `${input.payload.agentId} has started on it`),
        resolve(CRASH_ROUTE, aboutCrash(input.payload), `${input.payload.agentId} has started again`),
      ];
    case 'WARRANT_FILED':
      return crashNotices(input.payload, input.policy);
    case 'EXEMPTION_CHANGED':
    case 'WARRANT_RENEWED':
    case 'WARRANT_LAPSED':
    case 'AGENT_ANSWERED':
    case 'BREAKER_RESET_ASKED':
    case 'DUPLICATE_INSTANCE':
    case 'HOLD_CHANGED':
    case 'HOLD_REFUSED':
    case 'CONTROL_APPLIED':
    case 'CONTROL_REFUSED':
    case 'CASE_OPENED':
    case 'CASE_WITHHELD':
    case 'CASE_RESUMED':
    case 'NUDGE_SENT':
    case 'DECISION_REFUSED':
    case 'AGENT_PAUSED':
    case 'AGENT_RESUMED':
    case 'STEP_SKIPPED':
    case 'AGENT_TERMINATED':
      return [];
  }
};

/** The agent's own words, quoted: they are data for people, of at most 500 characters each. */
const answered = (answers: readonly EscalationAnswer[]): string =>
  answers.map(({ how, text }) => `; the agent answers (${how}): ${JSON.stringify(text)}`).join('');

/** Several signals may have one cause with limits of their own: the cause appears once. */
const causesOf = (words: readonly string[]): readonly string[] => {
  const causes = words.map((one) => one.replace(/; limit [^;]*$/, ''));
  return words.filter((_, index) => causes.indexOf(causes[index] ?? '') === index);
};

/** Degraded is still the same episode: the alert stays as it is. */
const stateNotices = (changed: StateChanged): readonly Noticed[] => {
  const { agentId, to, reason, evidence } = changed;
  switch (to) {
    case 'STUCK':
    case 'FAILING': {
      const words = causesOf(evidence.map((one) => one.words)).join('; ');
      const graver = to === 'FAILING' ? GRAVE : {};
      return [raise(ROUTE, changed, { ...graver, title: `${agentId} is ${to}`, text: words === '' ? reason : words })];
    }
    case 'HEALTHY':
      return [
        ...well(changed, `${agentId} is HEALTHY`),
        ...unblocked(changed, `${agentId} works on it, and is HEALTHY`),
      ];
    case 'TERMINATED':
      return ended(changed, `${agentId} has ended: ${reason.replace(/^ended: /, '')}`);
    case 'DEGRADED':
    case 'UNKNOWN':
      return [];
  }
};

/** An agent that was stuck and has gone on to another task leaves no alert behind. */
const leftNotices = (changed: StateChanged): readonly Noticed[] => {
  const { agentId, leftTaskId: taskId } = changed;
  const text = `${agentId} has left it`;
  if (taskId === null) return [];
  const about = { agentId, taskId };
  const ofAgent = [ROUTE, BLOCKED_ROUTE].map((one) => resolve(one, about, text));
  return [...ofAgent, ticketOver(about, text), taskSpent(taskId, text)];
};

/** A finished task needs no more attempts. */
const finishedNotices = ({ agentId, taskId, to, endReason }: StateChanged): readonly Noticed[] => {
  const isDone = to === 'TERMINATED' && endReason === 'finished' && taskId !== null;
  if (!isDone) return [];
  const text = `${agentId} has finished it`;
  // Also where another agent of the task was blocked, and ended by order.
  return [taskSpent(taskId, text), resolve(BLOCKED_ROUTE, { agentId: null, taskId }, text)];
};

/**
 * A task left to people is over when an agent works on it again, even if the agent that was blocked was ended by
 * order and reports no more.
 */
const unblocked = ({ taskId }: Pick<StateChanged, 'taskId'>, text: string): readonly Noticed[] =>
  taskId === null ? [] : [resolve(BLOCKED_ROUTE, { agentId: null, taskId }, text)];

const well = (changed: StateChanged, text: string): readonly Noticed[] =>
  changed.taskId === null ? over(changed, text) : [...over(changed, text), resolve(BLOCKED_ROUTE, changed, text)];

/** A plan may end the agent and leave its task to people, so the task stays blocked where an order ended the agent. */
const ended = (changed: StateChanged, text: string): readonly Noticed[] =>
  changed.endOrderId === null ? well(changed, text) : over(changed, text);

/** Includes reports about the agent from before it had its task. */
const over = (changed: StateChanged, text: string): readonly Noticed[] => {
  const own = { ...changed, taskId: null };
  const ofTask = [resolve(ROUTE, changed, text), ticketOver(changed, text)];
  return changed.taskId === null ? [...ofTask, resolve(BLOCKED_ROUTE, own, text)] : [...ofTask, ...over(own, text)];
};

type Filed = PayloadOf<typeof Topic.agentHealth, 'WARRANT_FILED'>;

const CRASH_ROUTE = 'agent_crashed';
const CRASHES: readonly Filed['endReason'][] = ['crashed', 'resource_limit', 'lost'];
/** These steps notify people themselves. */
const NOTIFYING: readonly string[] = ['alert', 'escalate'];

/** The agent, also where its next instance has a task. */
const aboutCrash = ({ agentId, labels }: Pick<Filed, 'agentId'> & Partial<Pick<Filed, 'labels'>>): About => ({
  agentId,
  taskId: null,
  ...(labels && { labels }),
});

/** A plan gives the task of a crashed agent to recovery. Without a task it does nothing, so people have to know. */
const crashNotices = (filed: Filed, policy: PolicyRef | null): readonly Noticed[] => {
  const { agentId, taskId, parentAgentId, endReason, plan, evidence, lastOutput } = filed;
  const steps = plan.map(({ step }) => step);
  const isForPeople = steps.includes('recover') && !steps.some((step) => NOTIFYING.includes(step));
  // The client of a sub-agent starts it again, or works on without it.
  if (!CRASHES.includes(endReason) || taskId !== null || parentAgentId !== null || !isForPeople) return [];
  const how = causesOf(evidence.map(({ words }) => words)).join('; ');
  const nothing = 'It has no task, so nothing was restarted.';
  const text = [`${how}. ${nothing} ${startAgain(filed, policy)}`, ...outputOf(agentId, lastOutput)].join('\n');
  return [raise(CRASH_ROUTE, aboutCrash(filed), { title: `${agentId} crashed, and nothing was restarted`, text })];
};

type Drifted = PayloadOf<typeof Topic.agentHealth, 'CLOCK_DRIFTED'>;

const CLOCK_ROUTE = 'clock_drift';

/** A clock belongs to the agent's host, with any task. */
const aboutClock = (payload: Drifted | PayloadOf<typeof Topic.agentHealth, 'CLOCK_DRIFT_ENDED'>): About => ({
  ...payload,
  taskId: null,
});

const driftedClock = (drifted: Drifted): Noticed => {
  const { agentId, driftMs, toleranceMs } = drifted;
  return raise(CLOCK_ROUTE, aboutClock(drifted), {
    title: `${agentId}: its clock is ${spell(Math.abs(driftMs))} ${driftMs > 0 ? 'behind' : 'ahead'}`,
    text: `its policy tolerates ${spell(toleranceMs)}. Vigil does not judge by it; correct the clock of its host`,
  });
};

type Overdue = PayloadOf<typeof Topic.agentHealth, 'WAIT_OVERDUE'>;
type EndedWait = PayloadOf<typeof Topic.agentHealth, 'WAIT_ENDED'>;

const WORDS = {
  permission: 'a permission',
  question: 'an answer',
  plan: 'the approval of a plan',
  prompt: 'its next instruction',
  dialog: 'an answer to a dialog',
  UNKNOWN: 'input',
} as const satisfies Record<NonNullable<Overdue['kind']>, string>;

const overdueWait = (overdue: Overdue): Noticed => {
  const { agentId, since, limitMs, kind, text } = overdue;
  const asked = text ?? (kind === 'prompt' ? 'it stands at its prompt' : 'it does not report its question');
  return raise(WAIT_ROUTE, aboutWait(overdue), {
    title: `${agentId} waits for ${WORDS[kind ?? 'UNKNOWN']}`,
    text: `since ${utcTime(since)}, for more than ${spell(limitMs)}: ${asked}`,
    askedText: text,
    waitSince: since,
    // The inbox has what a terminal asks, and no idle prompt.
    itemId: kind === 'permission' || kind === 'question' ? `agent/${agentId}` : null,
  });
};

const endedWait = (ended: EndedWait): Noticed =>
  resolve(WAIT_ROUTE, aboutWait(ended), `${ended.agentId}: ${ended.why}`);
