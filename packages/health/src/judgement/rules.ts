import type { CompiledPlan, CompiledPolicy, JudgedState, Step, Together } from '@vigil/policy';
import { NEVER } from '@vigil/stream';
import { hash32 } from '../history/hash.ts';
import type { History } from '../history/history.ts';
import { INITIAL_HISTORY, PARTS, type Part } from '../history/history.ts';
import type { LookedFor } from '../history/presence/matches.ts';
import { SIGNALS, type SignalName } from '../signals/all.ts';
import { RATE_LIMIT_PATTERNS } from '../signals/patterns.ts';
import type { AnySignal } from '../signals/signal.ts';
import { type AnyExemption, EXEMPTIONS, type ExemptionName } from './exemptions.ts';

/** A use of a signal with the functions of that signal. */
export type Rule = {
  readonly name: string;
  readonly signalName: SignalName;
  readonly signal: AnySignal;
  readonly limits: never;
  /** position in `groups` */
  readonly group: number;
  /** positions of counter-evidence among the rules */
  readonly unless: readonly number[];
};
export type Exempting = { readonly name: ExemptionName; readonly exemption: AnyExemption; readonly limits: never };

/**
 * Rules that the same exemptions suspend. Two fields are positions in `exemptions`; `restartedBy`: the exemptions that
 * restart the rules' clock. `kinds`: the waits that are left out, a sum of WAIT.
 */
export type Group = {
  readonly suspendedBy: readonly number[];
  readonly restartedBy: readonly number[];
  readonly kinds: number;
};

/** An exemption that is a wait. */
type Waiting = {
  readonly wait: NonNullable<AnyExemption['wait']>;
  readonly limits: never;
  readonly isReported: boolean;
};

/** Rules that never fire while `partOf` a history is `unborn`. */
type ByPart = {
  readonly partOf: (history: History) => unknown;
  readonly initial: unknown;
  readonly positions: readonly number[];
  /** the rules that a state or a plan uses */
  readonly deciding: readonly number[];
};

/** A policy bound to the functions that its names refer to. */
export type Rules = {
  readonly policy: CompiledPolicy;
  readonly rules: readonly Rule[];
  readonly groups: readonly Group[];
  /** the position of the group of a ticket's stall */
  readonly stalling: number;
  /**
   * positions of rules: those that are always evaluated, and those by the part of a history without which they never
   * fire
   */
  readonly always: readonly number[];
  readonly byPart: readonly ByPart[];
  /**
   * positions of rules: those that make a state, those that counter-evidence may quiet, and those that end by
   * themselves
   */
  readonly stating: readonly number[];
  readonly quieted: readonly number[];
  readonly ending: readonly number[];
  /** positions of rules that any heartbeat may make fire sooner (`deferral.ts`) */
  readonly reevaluatedEveryHeartbeat: readonly number[];
  /** NEVER for each rule, and for each exemption */
  readonly never: readonly number[];
  readonly neverExempt: readonly number[];
  readonly exemptions: readonly Exempting[];
  readonly waiting: readonly Waiting[];
  readonly states: readonly { readonly state: JudgedState; readonly anyOf: readonly Together[] }[];
  readonly plans: Plans;
  readonly lookedFor: LookedFor;
};

export const rulesOf = (policy: CompiledPolicy): Rules => {
  const exemptions = policy.exemptions.map(({ name, limits }): Exempting => {
    const known = name as ExemptionName;
    return { name: known, exemption: EXEMPTIONS[known], limits: limits as never };
  });
  const groups: Group[] = [];
  const rules = policy.uses.map(({ name, signal: named, limits, unless }): Rule => {
    const signalName = named as SignalName;
    const signal: AnySignal = SIGNALS[signalName];
    return {
      name,
      signalName,
      signal,
      limits: limits as never,
      group: groupOf(signal, limits as never, exemptions, groups),
      unless,
    };
  });
  const those = (wanted: (rule: Rule, i: number) => boolean) =>
    rules.flatMap((rule, i) => (wanted(rule, i) ? [i] : []));
  const named = namedBy(policy);
  const decides = ({ signal }: Rule, i: number) => !signal.mitigating || named.has(i);
  return {
    policy,
    rules,
    groups,
    stalling: groupOf(SIGNALS.no_step, {} as never, exemptions, groups),
    always: those(({ signal }) => signal.by === undefined),
    byPart: (Object.keys(PARTS) as Part[]).flatMap((part): ByPart[] => {
      const positions = those(({ signal }) => signal.by === part);
      const deciding = positions.filter((i) => decides(rules[i] as Rule, i));
      return positions.length === 0
        ? []
        : [{ partOf: PARTS[part], initial: PARTS[part](INITIAL_HISTORY), positions, deciding }];
    }),
    stating: [...new Set(policy.states.flatMap(({ anyOf }) => anyOf.flat()))],
    quieted: quietedOf(rules),
    ending: those(({ signal }) => signal.endsAt !== undefined),
    reevaluatedEveryHeartbeat: those(
      (rule, i) => (rule.signal.reevaluateEveryHeartbeat === true && decides(rule, i)) || rule.unless.length > 0,
    ),
    never: rules.map(() => NEVER),
    neverExempt: exemptions.map(() => NEVER),
    exemptions,
    waiting: exemptions.flatMap(({ exemption: { wait, isReported }, limits }) =>
      wait === undefined ? [] : [{ wait, limits, isReported }],
    ),
    states: policy.states,
    plans: plansOf(policy.plans),
    lookedFor: lookedForBy(rules),
  };
};

/**
 * Rules that counter-evidence may quiet, each after those that may quiet its counter-evidence. So a quieted signal
 * quiets no other, independent of their names.
 */
const quietedOf = (rules: readonly Rule[]): number[] => {
  const seen = new Set<number>();
  const inOrder = (i: number): readonly number[] => {
    if (seen.has(i)) return [];
    seen.add(i);
    const unless = rules[i]?.unless ?? [];
    return unless.length === 0 ? [] : [...unless.flatMap(inOrder), i];
  };
  return rules.flatMap((_, i) => inOrder(i));
};

/** Positions of the uses that a state or a plan names. */
const namedBy = ({ states, plans }: CompiledPolicy): ReadonlySet<number> => {
  const terms = plans.flatMap(({ anyOf }) => anyOf.flat());
  return new Set([
    ...states.flatMap(({ anyOf }) => anyOf.flat()),
    ...terms.flatMap((term) => (term.kind === 'use' ? [term.use] : [])),
  ]);
};

/** The patterns of rate limits always apply, even if no policy names the signal, because rate limits exempt. */
const lookedForBy = (rules: readonly Rule[]): LookedFor => {
  const of = (wanted: (rule: Rule) => boolean) =>
    rules.filter(wanted).map(({ signal, limits }) => signal.patterns?.(limits) ?? []);
  const named = rules.some(({ signalName }) => signalName === 'rate_limited');
  const others = of(({ signalName }) => signalName !== 'rate_limited').filter(({ length }) => length > 0);
  return {
    rateLimits: named ? of(({ signalName }) => signalName === 'rate_limited').flat() : RATE_LIMIT_PATTERNS,
    others: others.flat(),
    together: others.map((patterns) => patterns.map(({ source }) => hash32(source))),
  };
};

/** While these last, nothing but their end is reported. */
const REQUESTS: ReadonlySet<string> = new Set<ExemptionName>(['call_in_flight', 'rate_limited']);

/** The position of an equal element, which is added if there is none. */
const groupOf = (signal: AnySignal, limits: never, exemptions: readonly Exempting[], groups: Group[]): number => {
  const suspendedBy = suspenders(signal, limits, exemptions);
  const restartedBy = suspendedBy.filter((e) => signal.resetOnCallEnd || !REQUESTS.has(exemptions[e]?.name ?? ''));
  const known = groups.findIndex(
    (one) => `${one.suspendedBy}` === `${suspendedBy}` && `${one.restartedBy}` === `${restartedBy}`,
  );
  const kinds = suspendedBy.reduce((sum, e) => sum | (exemptions[e]?.exemption.wait?.kind ?? 0), 0);
  return known >= 0 ? known : groups.push({ suspendedBy, restartedBy, kinds }) - 1;
};

const suspenders = (signal: AnySignal, limits: never, exemptions: readonly Exempting[]): number[] =>
  exemptions.flatMap(({ name, exemption }, i) =>
    exemption.suspends.includes(signal.axis) && !signal.notSuspendedBy?.(limits).includes(name) ? [i] : [],
  );

/** The plans of a policy, reduced for agents that cannot execute every step. */
type Plans = {
  readonly all: readonly CompiledPlan[];
  readonly ofClient: readonly CompiledPlan[];
  readonly ofSubagent: readonly CompiledPlan[];
};

/**
 * A sub-agent has no process, terminal or task of its own. Its session is recovered through its parent; its own plan
 * only notifies people.
 */
const FOR_SUBAGENT: Readonly<Record<Step['step'], boolean>> = {
  nudge: false,
  interrogate: false,
  interrupt: false,
  resume: false,
  escalate: true,
  handoff: false,
  pause: false,
  terminate: false,
  recover: false,
  block: false,
  alert: true,
};

const DECISIONS_ON_SUBAGENT: readonly string[] = ['allow_more_time', 'pardon'];

const ofSubagent = (step: Step): readonly Step[] => {
  if (!FOR_SUBAGENT[step.step]) return [];
  if (step.step !== 'escalate') return [step];
  return [{ ...step, onTimeout: 'hold', options: DECISIONS_ON_SUBAGENT }];
};

/**
 * A client that reports its turns backs off by itself. A pause would stop it during its wait, and no reader would get
 * the resume message.
 */
const ofClient = (step: Step): readonly Step[] => (step.step === 'pause' ? [] : [step]);

const withSteps = (plans: readonly CompiledPlan[], allowed: (step: Step) => readonly Step[]): readonly CompiledPlan[] =>
  plans.map((plan) => ({ ...plan, steps: plan.steps.flatMap(allowed) })).filter(({ steps }) => steps.length > 0);

const plansOf = (plans: readonly CompiledPlan[]): Plans => ({
  all: plans,
  ofClient: withSteps(plans, ofClient),
  ofSubagent: withSteps(plans, ofSubagent),
});

export const plansFor = (plans: Plans, { identity, turn }: History): readonly CompiledPlan[] => {
  if (identity.parentId !== null) return plans.ofSubagent;
  return turn === null ? plans.all : plans.ofClient;
};
