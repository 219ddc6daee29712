import type { HealthState } from '@vigil/events';
import type { CompiledPolicy, Step } from '@vigil/policy';
import { type HeartbeatPayload, history, presetsWith, T0 } from '../fixture.ts';
import { type Judgement, judge } from '../judgement/judge.ts';
import type { Heartbeats } from '../signals/testing/case.ts';

export const SEC = 1000;
export const MIN: number = 60 * SEC;

/** How a preset judges an agent with these heartbeats, at `ms` after T0, everything watched. */
export type Judged = {
  readonly state: HealthState;
  /** the signals that fire, by the names of the policy */
  readonly fires: readonly string[];
  /** the `when` of the plan; null: none */
  readonly plan: string | null;
};
export type Preset = {
  readonly policy: CompiledPolicy;
  readonly at: (heartbeats: Heartbeats, ms: number) => Judged;
  /** its steps under one `when` */
  readonly steps: (when: string) => readonly Step[];
  /** what a signal is set to, by its name in the policy */
  readonly limits: (signal: string) => unknown;
};

export const preset = (name: string): Preset => {
  const policies = presetsWith(name);
  const rules = policies.rules({ name, hash: '' });
  const at = (heartbeats: Heartbeats, ms: number): Judged => {
    const now = T0 + ms;
    const judgement: Judgement = judge(rules, history(heartbeats, {}, rules), { now, watched: now }, true);
    const fires = rules.rules.flatMap((rule, i) => ((judgement.from[i] ?? 0) <= now ? [rule.name] : []));
    return { state: judgement.state, fires, plan: judgement.plan?.name ?? null };
  };
  const steps = (when: string) => rules.plans.all.find((plan) => plan.name === when)?.steps ?? [];
  const limits = (signal: string) => rules.policy.uses.find((use) => use.name === signal)?.limits;
  return { policy: rules.policy, at, steps, limits };
};

/** The heartbeat at 0, then `n` more a second apart, each with the fields of `more`. */
export const each = (n: number, more: (i: number) => Heartbeats[number][1]): Heartbeats =>
  Array.from({ length: n }, (_, i) => [i * SEC, more(i)] as const);

/** An output as a terminal's watcher reports it, with only these fields known. */
export const output = (more: Partial<NonNullable<HeartbeatPayload['output']>>): Pick<HeartbeatPayload, 'output'> => ({
  output: {
    last_output_at: null,
    lines: null,
    matched_patterns: [],
    shown_errors: [],
    repeated_error: null,
    result_at: null,
    completion_signal_at: null,
    tail: [],
    ...more,
  },
});

/** A work item with only these fields known. */
export const work = (more: Partial<NonNullable<HeartbeatPayload['work']>>): Pick<HeartbeatPayload, 'work'> => ({
  work: {
    id: 'wisp-1',
    status: 'in_progress',
    updated_at: null,
    claim_refreshed_at: null,
    comment_count: null,
    ...more,
  },
});
