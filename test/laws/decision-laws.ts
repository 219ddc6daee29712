import type { HealthEvent } from '@vigil/events';
import { Broken, type Law, type Simulation } from './simulation.ts';

const MINUTE = 60_000;
const PERSON = 'ada';

/** A decision of a person that is not answered yet. */
type Command = {
  readonly what: string;
  readonly at: number;
  readonly isAnswer: (event: HealthEvent) => boolean;
  /** the task whose recovery in progress was requested */
  readonly underWay?: string;
};

const RECOVERIES: ReadonlySet<string> = new Set([
  'ADMIT_SPAWN',
  'RECOVERY_INITIATED',
  'RECOVERY_COMPLETED',
  'RECOVERY_FAILED',
  'RECOVERY_REFUSED',
  'REVIEW_DECIDED',
  'TASK_RELEASED',
]);
const RESTS: ReadonlySet<string> = new Set(['idle', 'probation', 'stable', 'over', 'review']);

const isUnderWay = ({ log }: Simulation, taskId: string): boolean => {
  const known = log.unit('recovery').entries.get(taskId)?.state as Recovering | undefined;
  return known !== undefined && !RESTS.has(known.situation.is);
};
type Recovering = { readonly situation: { readonly is: string } };

const commandOf = (event: HealthEvent, now: number): Command | null => {
  switch (event.type) {
    case 'DECIDE_CASE': {
      const { caseId, decision } = event.payload;
      const isAnswer = (answer: HealthEvent) =>
        (answer.type === 'ESCALATION_DECIDED' || answer.type === 'DECISION_REFUSED') &&
        answer.payload.caseId === caseId;
      return { what: `${decision} for ${caseId}`, at: now, isAnswer };
    }
    case 'REQUEST_STEP': {
      const { agentId, step, by } = event.payload;
      const isAnswer = (answer: HealthEvent) =>
        (answer.type === 'CASE_OPENED' && answer.payload.caseId === `case-${event.eventId}`) ||
        (answer.type === 'DECISION_REFUSED' && answer.payload.agentId === agentId);
      return by === PERSON ? { what: `${step} for ${agentId}`, at: now, isAnswer } : null;
    }
    case 'RECOVER_TASK': {
      const { taskId, by } = event.payload;
      const isAnswer = (answer: HealthEvent) =>
        RECOVERIES.has(answer.type) && 'taskId' in answer.payload && answer.payload.taskId === taskId;
      return by === null ? null : { what: `recovery of ${taskId}`, at: now, isAnswer, underWay: taskId };
    }
    case 'REVIEW_TASK': {
      const { taskId, decision } = event.payload;
      const isAnswer = (answer: HealthEvent) =>
        (answer.type === 'REVIEW_DECIDED' || answer.type === 'TASK_RELEASED') && answer.payload.taskId === taskId;
      return { what: `${decision} for ${taskId}`, at: now, isAnswer };
    }
    default:
      return null;
  }
};

const peopleAreAnswered = (): Law => {
  let open: readonly Command[] = [];
  return {
    name: 'a decision by a person is answered: done, or refused with the reason',
    onEvent(event, simulation) {
      open = open.filter((command) => !command.isAnswer(event));
      const command = commandOf(event, simulation.now);
      if (command !== null) open = [...open, command];
    },
    onMoment(simulation) {
      const { now, lastStallAt } = simulation;
      open = open.filter(({ underWay }) => underWay === undefined || !isUnderWay(simulation, underWay));
      const late = open.find(({ at }) => now - Math.max(at, lastStallAt) > MINUTE);
      if (late) throw new Broken(this.name, late.what, now);
    },
  };
};

/** Decisions of people about a case: to end its agent, at once or by a handoff. */
type Decided = { readonly what: string; at: number; isBegun: boolean; hasLapsed: boolean };

const BEGUN: ReadonlySet<string> = new Set(['TERMINATE_AGENT', 'HANDOFF_AGENT', 'RECOVER_TASK']);
/**
 * Whether another decision or another instance has replaced it, or the governor withholds it and the case states the
 * reason.
 */
const ANSWERED: ReadonlySet<string> = new Set(['pardoned', 'superseded', 'withheld']);
/** A decision must be admitted within 15 minutes. */
const LONGEST = 17 * MINUTE;

const decisionsAreCarriedOut = (): Law => {
  const open = new Map<string, Decided>();
  const closing = (caseId: string, ending: string, { facts, now }: Simulation, law: string) => {
    const decided = open.get(caseId);
    open.delete(caseId);
    if (!decided || decided.isBegun || decided.hasLapsed || ANSWERED.has(ending)) return;
    const instanceId = facts.cases.get(caseId)?.instanceId ?? '';
    if (!facts.ended.has(instanceId))
      throw new Broken(law, `${caseId} is closed as ${ending} in spite of ${decided.what}`, now);
  };
  return {
    name: 'a decision by a person to end an agent is carried out, or people are notified of the reason',
    onEvent(event, simulation) {
      if (event.type === 'CASE_CLOSED')
        return closing(event.payload.caseId, event.payload.ending, simulation, this.name);
      const caseId = 'caseId' in event.payload ? event.payload.caseId : null;
      if (typeof caseId !== 'string') return;
      if (event.type === 'ESCALATION_DECIDED') {
        const { decision } = event.payload;
        const isEnd = decision === 'terminate_and_recover' || decision === 'force_handoff';
        if (isEnd) open.set(caseId, { what: decision, at: simulation.now, isBegun: false, hasLapsed: false });
        else open.delete(caseId);
      }
      const decided = open.get(caseId);
      if (decided && BEGUN.has(event.type)) decided.isBegun = true;
      if (decided && event.type === 'DECISION_LAPSED') decided.hasLapsed = true;
    },
    onMoment({ now, lastStallAt }) {
      for (const [caseId, { what, at, isBegun }] of open)
        if (!isBegun && now - Math.max(at, lastStallAt) > LONGEST)
          throw new Broken(this.name, `${what} for ${caseId} has not begun`, now);
    },
  };
};

export const decisionLaws = (): readonly Law[] => [peopleAreAnswered(), decisionsAreCarriedOut()];
