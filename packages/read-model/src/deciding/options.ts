import { usableCheckpoints } from '@vigil/events';
import type { AgentRow } from '../queries/agents.ts';
import type { CaseStory } from '../queries/cases.ts';
import type { CheckpointRow } from '../queries/tasks.ts';

/** A plan of an agent's policy. `from`: since when it holds, or from when it will hold if nothing more is received; epoch milliseconds. */
export type UpcomingPlan = {
  readonly plan: string;
  readonly from: number;
  readonly steps: readonly string[];
  /** the decisions that it offers to people */
  readonly decisions: readonly string[];
};

/** What can be done next for an agent that is not healthy. Times are epoch milliseconds. */
export type RecoveryOptions = {
  /** the plan that acts, or that will act if nothing more is received; null: none is expected */
  readonly plan: string | null;
  readonly steps: readonly string[];
  /** the plan's next step; `at` null: its time is not known. null: people decide, or no plan is expected */
  readonly next: { readonly step: string; readonly at: number | null } | null;
  /** the exemption of the wait after which the plan continues; null: nothing suspends it, or that is not known */
  readonly suspendedBy: string | null;
  /** the decisions that the plan offers to people, now or later */
  readonly decisions: readonly string[];
  /** the newest checkpoint along parents that is not invalid, from which a recovery continues; null: a recovery starts the task again */
  readonly checkpoint: Pick<CheckpointRow, 'checkpointId' | 'writtenAt' | 'valid'> | null;
};

/** A step as the events have it. */
type PlannedStep = {
  readonly step: string;
  readonly nudge?: { readonly attempts: number; readonly intervalMs: number } | null;
  readonly interrogate?: { readonly waitsMs: readonly number[] } | null;
  readonly escalate?: { readonly options: readonly string[] } | null;
};

type Sources = {
  /** its open case; null: there is none */
  readonly openCase: CaseStory | null;
  /** by its policy; null: none is expected, or the evaluator's state was not available */
  readonly upcoming: UpcomingPlan | null;
  /** the exemption of the wait that suspends its plan; null: none does, or the evaluator's state was not available */
  readonly suspendedBy: string | null;
  /** of its task, newest first */
  readonly checkpoints: readonly CheckpointRow[];
};

/** Whether an agent lives and is not healthy. */
export const hasOptions = ({ state }: Pick<AgentRow, 'state'>): boolean =>
  state === 'DEGRADED' || state === 'STUCK' || state === 'FAILING';

/** The options for an agent; null: it is healthy, or has ended. An open case continues with its own plan. */
export const recoveryOptions = (
  agent: Pick<AgentRow, 'state'>,
  { openCase, upcoming, suspendedBy, checkpoints }: Sources,
): RecoveryOptions | null => {
  if (!hasOptions(agent)) return null;
  const about = { suspendedBy, checkpoint: checkpointOf(checkpoints) };
  if (openCase !== null) {
    const { next, ...planned } = ofCase(openCase);
    return { ...planned, next: next && suspendedBy !== null ? { ...next, at: null } : next, ...about };
  }
  if (upcoming === null) return { plan: null, steps: [], next: null, decisions: [], ...about };
  const { plan, from, steps, decisions } = upcoming;
  const [first] = steps;
  return { plan, steps, next: first === undefined ? null : { step: first, at: from }, decisions, ...about };
};

const checkpointOf = (checkpoints: readonly CheckpointRow[]): RecoveryOptions['checkpoint'] => {
  const [found] = usableCheckpoints(checkpoints.toReversed()).from;
  if (found === undefined) return null;
  const { checkpointId, writtenAt, valid } = found;
  return { checkpointId, writtenAt, valid };
};

const ofCase = (openCase: CaseStory): Omit<RecoveryOptions, 'suspendedBy' | 'checkpoint'> => {
  const plan = Array.isArray(openCase.plan) ? (openCase.plan as readonly PlannedStep[]) : [];
  const decisions = openCase.waiting
    ? openCase.escalationOptions
    : plan.flatMap(({ escalate }) => escalate?.options ?? []);
  return { plan: openCase.planName, steps: plan.map(({ step }) => step), next: nextOf(openCase, plan), decisions };
};

const nextOf = (openCase: CaseStory, plan: readonly PlannedStep[]): RecoveryOptions['next'] => {
  const { withheld, waiting, step, stepAt, escalationOnTimeout, escalationDeadlineAt } = openCase;
  if (withheld !== null) return { step: withheld.step, at: null };
  if (waiting) return escalationOnTimeout === 'hold' ? null : after(plan, 'escalate', escalationDeadlineAt);
  if (step !== 'NUDGE_SENT') return step === null ? stepAs(plan[0], null) : null;
  const sent = openCase.trail.findLast(({ type }) => type === 'NUDGE_SENT')?.payload as
    | { readonly attempt: number; readonly of: number }
    | undefined;
  if (sent === undefined || stepAt === null) return null;
  const asking = plan.find((one) => waitsOf(one).length === sent.of);
  if (asking === undefined) return null;
  const at = stepAt + (waitsOf(asking)[sent.attempt - 1] ?? 0);
  return sent.attempt < sent.of ? { step: asking.step, at } : after(plan, asking.step, at);
};

/** How long a step waits for an answer to each of its texts, milliseconds. */
const waitsOf = ({ nudge, interrogate }: PlannedStep): readonly number[] =>
  nudge ? Array<number>(nudge.attempts).fill(nudge.intervalMs) : (interrogate?.waitsMs ?? []);

const after = (plan: readonly PlannedStep[], name: string, at: number | null): RecoveryOptions['next'] =>
  stepAs(plan[plan.findIndex(({ step }) => step === name) + 1], at);

const stepAs = (planned: PlannedStep | undefined, at: number | null): RecoveryOptions['next'] =>
  planned === undefined ? null : { step: planned.step, at };
