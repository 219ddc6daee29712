import type { HealthState } from '@vigil/events';
import type { CompiledPolicy } from '@vigil/policy';
import { NEVER } from '@vigil/stream';
import { Folding, type Recorded } from '../evaluate.ts';
import type { Observation, Said } from '../health.ts';
import { type Policies, policiesOf } from '../policies.ts';
import { type Rules, rulesOf } from '../rules.ts';
import { AGENT, heartbeatOf } from './heartbeat.ts';
import { type Report, reportsOf } from './reports.ts';
import type { Hashing, RecordedRun } from './run.ts';

/** A state that a run came into. `call`: calls folded so far; `at`: seconds since the first; `signals`: names of uses that made it. */
export type Change = {
  readonly to: HealthState;
  readonly call: number;
  readonly at: number;
  readonly signals: readonly string[];
};
/** `worst`: the worst state that the run was in. */
export type JudgedRun = { readonly worst: HealthState; readonly changes: readonly Change[] };

export type RunJudge = (run: RecordedRun) => JudgedRun;

/** Any moment of ours: what a run's first report is moved to, so that its times may begin at zero. */
const BEGIN = Date.UTC(2026, 0, 1);
const WORST_FIRST: readonly HealthState[] = ['FAILING', 'STUCK', 'DEGRADED'];

/** Judges recorded runs by the fold that judges agents. `gapMs`: from call to call where no times are recorded. */
export function runJudge(policy: CompiledPolicy, hashing: Hashing, gapMs: number): RunJudge {
  const judged = forRecords(policy);
  const [policies, rules] = [policiesOf([judged], judged.name), rulesOf(judged)];
  return (run) => {
    const changes = changesOf(policies, rules, run, reportsOf(run, hashing, gapMs));
    return { worst: WORST_FIRST.find((state) => changes.some(({ to }) => to === state)) ?? 'HEALTHY', changes };
  };
}

/**
 * The policy without what a record says nothing about. Heartbeats are not recorded, so that their absence is unknown; nobody acts on a
 * finished run, so no plan is followed; and whom a policy leaves out it leaves out by name, which a run has none of.
 */
function forRecords(policy: CompiledPolicy): CompiledPolicy {
  const uses = policy.uses.map((use) =>
    use.signal === 'no_heartbeat' ? { ...use, limits: { ...(use.limits as object), after: NEVER } } : use,
  );
  return { ...policy, uses, plans: [], exclude: [] };
}

/** After the last report nothing is judged: nobody knows how the run went on. */
function changesOf(policies: Policies, rules: Rules, run: RecordedRun, reports: readonly Report[]): Change[] {
  const folding = new Folding(policies);
  const origin = reports[0]?.at ?? 0;
  const changes: Change[] = [];
  let folded = 0;
  const fold = (now: number, input: Observation | null) => {
    const record: Recorded = { clock: { now, watched: now, doors: {} }, input };
    const [standing, at] = [changes.at(-1)?.to ?? 'HEALTHY', (now - BEGIN) / 1000];
    for (const said of folding.fold(record).said)
      if (said.type === 'HEALTH_STATE_CHANGED' && said.payload.to !== standing)
        changes.push(changed(rules, said, folded, at));
    // An agent that was silent for long enough is forgotten, and one that is new does not say that it is healthy.
    if (input !== null && (changes.at(-1)?.to ?? 'HEALTHY') !== 'HEALTHY' && isHealthy(folding))
      changes.push({ to: 'HEALTHY', call: folded, at, signals: [] });
  };
  for (const report of reports) {
    const now = BEGIN + report.at - origin;
    while (folding.dueAt < now) fold(folding.dueAt, null);
    folded = Math.max(folded, report.folded);
    fold(now, heartbeatOf(run, report, BEGIN - origin));
  }
  return changes;
}

function isHealthy(folding: Folding): boolean {
  const state = folding.stateOf(AGENT);
  return state.kind === 'known' && state.told.state === 'HEALTHY';
}

type StateChanged = Extract<Said, { type: 'HEALTH_STATE_CHANGED' }>;

function changed({ rules, states }: Rules, { payload }: StateChanged, call: number, at: number): Change {
  const fires = new Set(payload.evidence.map(({ signal }) => signal));
  const names = (states.find(({ state }) => state === payload.to)?.anyOf ?? []).flatMap((together) => {
    const those = together.map((i) => rules[i]?.name ?? '');
    return those.every((name) => fires.has(name)) ? those : [];
  });
  return { to: payload.to, call, at, signals: [...new Set(names)] };
}
