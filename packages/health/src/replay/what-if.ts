import { Topic } from '@vigil/events';
import { positionOf } from '@vigil/stream';
import type { Observation } from '../evaluator/health.ts';
import type { Policies } from '../judgement/policies.ts';
import type { Decided, DecisionEvent } from './decided.ts';
import type { Substitute } from './documents.ts';
import { Folds } from './folds.ts';
import type { Mark } from './partition-replay.ts';
import { isWithin, type ReplayReader, type ReplaySource, type Span } from './source.ts';

/** What people see of a decision: another state, or a plan that begins, changes or ends. Times in epoch milliseconds. */
export type Outcome =
  | { readonly kind: 'state'; readonly from: string; readonly to: string; readonly reason: string }
  | { readonly kind: 'plan_begins'; readonly plan: string; readonly steps: readonly string[] }
  | { readonly kind: 'plan_changes'; readonly plan: string; readonly steps: readonly string[] }
  | { readonly kind: 'plan_ends'; readonly why: string };

/**
 * An outcome of one record. `recorded`: under the recorded policies; `otherwise`: under the other policy; null: none.
 * `isSame`: both have it, so that `otherwise` differs in the text of its reason at most. `position`: of the record.
 */
export type Compared = {
  readonly at: number;
  readonly position: string;
  readonly recorded: Outcome | null;
  readonly otherwise: Outcome | null;
  readonly isSame: boolean;
};

/** An agent with a different outcome, up to the first different act. `differsFrom` null: both act in the same way. */
export type DifferentAgent = {
  readonly agent: string;
  readonly outcomes: readonly Compared[];
  readonly differsFrom: number | null;
};

/** Counts up to the first different act of each agent. `stuck`: agents that were judged STUCK or FAILING. */
export type Side = { readonly stuck: number; readonly degraded: number; readonly plans: number };

/** `actedOtherwise`: agents with a different act. */
export type WhatIf = {
  readonly observations: number;
  readonly agents: number;
  readonly actedOtherwise: number;
  readonly recorded: Side;
  readonly otherwise: Side;
  /** agents that are not compared: they were known before the first record, so that their state is not known */
  readonly earlier: readonly string[];
  /** in the order of the first difference */
  readonly different: readonly DifferentAgent[];
};

/** Each type with its payload. */
type TypedPayload<E> = E extends DecisionEvent ? Pick<E, 'type' | 'payload'> : never;

const outcomeOf = (decided: Decided): Outcome | null => {
  const { type, payload } = decided as TypedPayload<DecisionEvent>;
  switch (type) {
    case 'HEALTH_STATE_CHANGED':
      return { kind: 'state', from: payload.from, to: payload.to, reason: payload.reason };
    case 'WARRANT_FILED':
    case 'WARRANT_RENEWED':
      return {
        kind: type === 'WARRANT_FILED' ? 'plan_begins' : 'plan_changes',
        plan: payload.planName,
        steps: payload.plan.map(({ step }) => step),
      };
    case 'WARRANT_LAPSED':
      return { kind: 'plan_ends', why: payload.why };
    default:
      return null;
  }
};

/** Equal signatures are the same outcome. The reason of a state is not part of it: it names limits. */
const signatureOf = (outcome: Outcome): string => {
  switch (outcome.kind) {
    case 'state':
      return `${outcome.from} ${outcome.to}`;
    case 'plan_begins':
    case 'plan_changes':
      return `${outcome.kind} ${outcome.steps.join(' ')}`;
    case 'plan_ends':
      return `plan_ends ${outcome.why}`;
  }
};

/** One side of an agent: what has been decided about it. */
class SideOfAgent {
  #steps = '';
  stuck = false;
  degraded = false;
  plans = 0;

  /** Counts an outcome, and returns it; null for a renewal that does not change the plan. */
  take(outcome: Outcome): Outcome | null {
    switch (outcome.kind) {
      case 'state':
        if (outcome.to === 'STUCK' || outcome.to === 'FAILING') this.stuck = true;
        if (outcome.to === 'DEGRADED') this.degraded = true;
        return outcome;
      case 'plan_begins':
        this.plans += 1;
        this.#steps = outcome.steps.join(' ');
        return outcome;
      case 'plan_changes': {
        const steps = outcome.steps.join(' ');
        if (steps === this.#steps) return null;
        this.#steps = steps;
        return outcome;
      }
      case 'plan_ends':
        return outcome;
    }
  }
}

/** The comparison of one agent. Nothing is added after the first different act. */
class AgentComparison {
  readonly #recorded = new SideOfAgent();
  readonly #otherwise = new SideOfAgent();
  readonly outcomes: Compared[] = [];
  differsFrom: number | null = null;

  /** The outcomes of one record on both sides. */
  add(at: number, position: string, recorded: readonly Outcome[], otherwise: readonly Outcome[]): void {
    if (this.differsFrom !== null) return;
    const left = recorded.flatMap((one) => this.#recorded.take(one) ?? []);
    const right = otherwise.flatMap((one) => this.#otherwise.take(one) ?? []);
    for (const one of left) {
      const same = right.findIndex((other) => signatureOf(other) === signatureOf(one));
      const [other = null] = same < 0 ? [] : right.splice(same, 1);
      this.#compared({ at, position, recorded: one, otherwise: other, isSame: other !== null });
    }
    for (const one of right) this.#compared({ at, position, recorded: null, otherwise: one, isSame: false });
  }

  get isDifferent(): boolean {
    return this.outcomes.some(({ isSame }) => !isSame);
  }

  sides(): { readonly recorded: SideOfAgent; readonly otherwise: SideOfAgent } {
    return { recorded: this.#recorded, otherwise: this.#otherwise };
  }

  #compared(one: Compared): void {
    this.outcomes.push(one);
    const isAct = (one.recorded ?? one.otherwise)?.kind !== 'state';
    if (isAct && !one.isSame) this.differsFrom ??= one.at;
  }
}

const NO_POLICY = 'the rules of a record are known before it';

/** Folds the records before the span once, and those of the span twice: under the recorded policies, and under another. */
class Comparison implements ReplayReader {
  readonly #span: Span;
  readonly #recorded: Folds;
  readonly #otherwise: Folds;
  readonly #rules: { readonly partition: number; readonly from: number; readonly rules: string }[] = [];
  readonly #begun = new Set<number>();
  readonly #earlier = new Set<string>();
  readonly #agents = new Map<string, AgentComparison | null>();
  #observations = 0;

  constructor({ span, documents }: ReplaySource, substitute: Substitute) {
    this.#span = span;
    this.#recorded = new Folds((rules) => documents.policiesOf(rules));
    const others = new Map<string, Policies>();
    this.#otherwise = new Folds((rules) => {
      const made = others.get(rules) ?? documents.withSubstitute(rules, substitute);
      others.set(rules, made);
      return made;
    });
  }

  rules(partition: number, from: number, rules: string): void {
    this.#recorded.rules(partition, from, rules);
    this.#rules.push({ partition, from, rules });
  }

  readonly clock: ReplayReader['clock'] = (...start) => this.#recorded.clock(...start);
  readonly agent: ReplayReader['agent'] = (...known) => this.#recorded.agent(...known);
  readonly earlier: ReplayReader['earlier'] = (agent) => void this.#earlier.add(agent);
  readonly decided = (): void => {};
  readonly complete = (): void => {};
  readonly unreadable = (): void => {};

  record(partition: number, mark: Mark, given: Observation | null): void {
    // A record of another agent only moves the time.
    const input = given !== null && this.#span.agent !== null && given.key !== this.#span.agent ? null : given;
    if (mark.timestamp < (this.#span.from ?? 0)) {
      this.#recorded.record(partition, mark, input);
      return;
    }
    if (!this.#begun.has(partition)) this.#begin(partition, mark.offset);
    if (input !== null) {
      this.#observations += 1;
      if (!this.#agents.has(input.key)) this.#agents.set(input.key, null);
    }
    const recorded = this.#recorded.record(partition, mark, input);
    const otherwise = this.#otherwise.record(partition, mark, input);
    if (recorded.length + otherwise.length > 0) this.#compare(partition, mark, recorded, otherwise);
  }

  /** The other policy applies from the beginning of the span, to the agents as they were then. */
  #begin(partition: number, offset: number): void {
    this.#begun.add(partition);
    const own = this.#rules.filter((one) => one.partition === partition);
    const before = own.findLast(({ from }) => from <= offset) ?? own[0];
    if (before === undefined) throw new Error(NO_POLICY);
    this.#otherwise.rules(partition, 0, before.rules);
    for (const one of own) if (one.from > offset) this.#otherwise.rules(partition, one.from, one.rules);
    const fold = this.#recorded.of(partition);
    this.#otherwise.clock(partition, fold.clock);
    for (const agent of fold.agents()) this.#otherwise.agent(partition, agent);
  }

  #compare(partition: number, { offset }: Mark, recorded: readonly Decided[], otherwise: readonly Decided[]): void {
    const position = positionOf({ topic: Topic.agentObservation, partition, offset });
    const { now } = this.#recorded.of(partition);
    if (!isWithin(this.#span, now)) return;
    const [left, right] = [outcomesByAgent(recorded), outcomesByAgent(otherwise)];
    for (const agent of new Set([...left.keys(), ...right.keys()])) {
      if (this.#earlier.has(agent) || (this.#span.agent !== null && agent !== this.#span.agent)) continue;
      const comparison = this.#agents.get(agent) ?? new AgentComparison();
      this.#agents.set(agent, comparison);
      comparison.add(now, position, left.get(agent) ?? [], right.get(agent) ?? []);
    }
  }

  result(): WhatIf {
    const compared = [...this.#agents].filter(([agent]) => !this.#earlier.has(agent));
    const known = compared.flatMap(([agent, one]) => (one === null ? [] : [{ agent, one }]));
    const different = known.filter(({ one }) => one.isDifferent);
    return {
      observations: this.#observations,
      agents: compared.length,
      actedOtherwise: known.filter(({ one }) => one.differsFrom !== null).length,
      recorded: sideOf(known.map(({ one }) => one.sides().recorded)),
      otherwise: sideOf(known.map(({ one }) => one.sides().otherwise)),
      earlier: [...this.#earlier].toSorted(),
      different: different
        .map(({ agent, one: { outcomes, differsFrom } }) => ({ agent, outcomes, differsFrom }))
        .toSorted((a, b) => firstDifferent(a) - firstDifferent(b) || (a.agent < b.agent ? -1 : 1)),
    };
  }
}

const firstDifferent = ({ outcomes }: DifferentAgent): number => outcomes.find(({ isSame }) => !isSame)?.at ?? 0;

const sideOf = (agents: readonly SideOfAgent[]): Side => ({
  stuck: agents.filter(({ stuck }) => stuck).length,
  degraded: agents.filter(({ degraded }) => degraded).length,
  plans: agents.reduce((sum, { plans }) => sum + plans, 0),
});

const outcomesByAgent = (decisions: readonly Decided[]): ReadonlyMap<string, readonly Outcome[]> => {
  const found = new Map<string, Outcome[]>();
  for (const decision of decisions) {
    const outcome = decision.topic === Topic.agentHealth ? outcomeOf(decision) : null;
    if (outcome === null) continue;
    const known = found.get(decision.stateKey);
    if (known === undefined) found.set(decision.stateKey, [outcome]);
    else known.push(outcome);
  }
  return found;
};

/**
 * Folds the observations of a span under the recorded policies and under another one, from the same states. Compares
 * states and plans up to the first different act of each agent. After it, another act would have led to other
 * observations. Throws UnknownRules.
 */
export const whatIf = async (source: ReplaySource, substitute: Substitute, signal: AbortSignal): Promise<WhatIf> => {
  source.documents.requireRecorded(substitute);
  const comparison = new Comparison(source, substitute);
  await source.read(comparison, signal);
  return comparison.result();
};
