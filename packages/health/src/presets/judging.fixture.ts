import type { HealthState } from '@vigil/events';
import type { CompiledPolicy, Step } from '@vigil/policy';
import { history, presetsWith, T0 } from '../fixture.ts';
import { judge, type Verdict } from '../judge.ts';
import type { Beats } from '../signals/case.ts';

export const SEC = 1000;
export const MIN: number = 60 * SEC;

/** What a preset says of an agent that has beaten like this, at `ms` after T0, everything watched. */
export type Judged = {
  readonly state: HealthState;
  /** the signals that fire, by the names of the policy */
  readonly fires: readonly string[];
  /** the `when` of the plan; null: none */
  readonly plan: string | null;
};
export type Preset = {
  readonly policy: CompiledPolicy;
  readonly at: (beats: Beats, ms: number) => Judged;
  /** its steps' names under one `when` */
  readonly steps: (when: string) => readonly Step[];
};

export function preset(name: string): Preset {
  const policies = presetsWith(name);
  const rules = policies.rules({ name, hash: '' });
  const at = (beats: Beats, ms: number): Judged => {
    const now = T0 + ms;
    const verdict: Verdict = judge(rules, history(beats), { now, watched: now }, true);
    const fires = rules.rules.flatMap((rule, i) => ((verdict.from[i] ?? 0) <= now ? [rule.name] : []));
    return { state: verdict.state, fires, plan: verdict.plan?.name ?? null };
  };
  const steps = (when: string) => rules.plans.find((plan) => plan.name === when)?.steps ?? [];
  return { policy: rules.policy, at, steps };
}

/** The beat at 0, then `n` more a second apart, each with what `more` gives. */
export const each = (n: number, more: (i: number) => Beats[number][1]): Beats =>
  Array.from({ length: n }, (_, i) => [i * SEC, more(i)] as const);
