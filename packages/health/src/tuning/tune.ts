import type { CompiledPolicy } from '@vigil/policy';
import { fedBy } from '../recorded/inputs.ts';
import { SIGNALS, type SignalName } from '../signals/all.ts';
import { type Amount, type Finding, findingsIn, type TimedCall, type Work } from './findings.ts';
import { alone, type Change, type Limit, ladderOf, limitsOf, withLimit } from './limits.ts';

/** The outcome of one value of a limit. `wrongWorks`: agents or runs with a wrong finding. */
export type Tried = {
  readonly value: number;
  readonly findings: number;
  readonly wrong: number;
  readonly wrongWorks: number;
  readonly right: number;
  readonly open: number;
  /** the work of the wrong ones until then: what an end would have lost */
  readonly cost: Amount;
  /** what followed the right ones */
  readonly saved: Amount;
  /** of the wrong ones, the most frequent first */
  readonly tools: readonly { readonly tool: string; readonly findings: number }[];
  /** the longest that a wrong one lasted beyond the limit, seconds; null: none ended */
  readonly longest: number | null;
};

/** Calls of a tool without a declared deadline, seconds. */
export type Durations = {
  readonly tool: string;
  readonly calls: number;
  readonly median: number;
  readonly p99: number;
  readonly longest: number;
};

/**
 * A limit and the values that were tried. `proposed`: null to keep it. `isEnough` false: the largest value that was
 * tried is still wrong too often.
 */
export type Tuned = {
  readonly limit: Limit;
  /** agents or runs whose record can make its signal fire */
  readonly judged: number;
  readonly tried: readonly Tried[];
  readonly present: Tried;
  readonly proposed: Tried | null;
  readonly isEnough: boolean;
  /** of the tool of most wrong findings under the present value */
  readonly durations: Durations | null;
};

/** `unfed`: limits whose signals need what no record has. */
export type Tuning = {
  readonly works: number;
  readonly successful: number;
  readonly seconds: number;
  readonly limits: readonly Tuned[];
  readonly unfed: readonly Limit[];
  /** the findings of the whole policy, and of the proposed one */
  readonly before: Tried;
  readonly after: Tried;
  readonly changes: readonly Change[];
};

/** `mostWrong`: the share of judged agents or runs that may have a wrong finding, from 0 to 1. */
export type TuneOptions = { readonly mostWrong: number; readonly onLimit: (done: number, of: number) => void };

const NO_AMOUNT: Amount = { seconds: 0, tokens: 0, calls: 0 };

const total = (findings: readonly Finding[]): Amount =>
  findings.reduce(
    (sum, { amount }) => ({
      seconds: sum.seconds + amount.seconds,
      tokens: sum.tokens + amount.tokens,
      calls: sum.calls + amount.calls,
    }),
    NO_AMOUNT,
  );

const triedWith = (value: number, findings: readonly Finding[]): Tried => {
  const of = (outcome: Finding['outcome']) => findings.filter((one) => one.outcome === outcome);
  const [wrong, right] = [of('wrong'), of('right')];
  const byTool = Map.groupBy(wrong, ({ tool }) => tool);
  const lasted = wrong.flatMap((one) => (one.lasted === null ? [] : [one.lasted]));
  return {
    value,
    findings: findings.length,
    wrong: wrong.length,
    wrongWorks: new Set(wrong.map(({ work }) => work)).size,
    right: right.length,
    open: of('open').length,
    cost: total(wrong),
    saved: total(right),
    tools: [...byTool]
      .flatMap(([tool, some]) => (tool === null ? [] : [{ tool, findings: some.length }]))
      .toSorted((a, b) => b.findings - a.findings || (a.tool < b.tool ? -1 : 1)),
    longest: lasted.length === 0 ? null : Math.max(...lasted),
  };
};

/** Judges from the smallest value on. A record without a finding has none at a larger one. */
const tryAll = (policy: CompiledPolicy, limit: Limit, works: readonly Work[]): readonly Tried[] => {
  const own = alone(policy, limit);
  let left = works;
  return ladderOf(limit).map((value) => {
    const changed = withLimit(own, limit, value);
    const found = left.map((work) => findingsIn(work, work.changesUnder(changed), () => limit.isAbsence));
    left = left.filter((_, i) => (found[i]?.length ?? 0) > 0);
    return triedWith(value, found.flat());
  });
};

/**
 * The smallest value with few enough wrong findings. A value below the present one is proposed only if it saves more,
 * and if it and the next smaller one have no wrong finding at all.
 */
const proposalOf = (
  tried: readonly Tried[],
  present: Tried,
  most: number,
): { readonly proposed: Tried | null; readonly isEnough: boolean } => {
  if (present.wrongWorks > most) {
    const enough = tried.find(({ value, wrongWorks }) => value > present.value && wrongWorks <= most);
    const last = tried.at(-1) as Tried;
    if (enough !== undefined) return { proposed: enough, isEnough: true };
    return { proposed: last.value > present.value && last.wrong < present.wrong ? last : null, isEnough: false };
  }
  const isSafe = (one: Tried | undefined) => one !== undefined && one.wrong === 0;
  const lower = tried.find(
    (one, i) =>
      one.value < present.value &&
      isSafe(one) &&
      isSafe(tried[i - 1]) &&
      one.right >= present.right &&
      (one.saved.seconds > present.saved.seconds || one.saved.calls > present.saved.calls),
  );
  return { proposed: lower ?? null, isEnough: true };
};

const durationsOf = (tool: string | undefined, works: readonly Work[]): Durations | null => {
  if (tool === undefined) return null;
  const some = works
    .flatMap(({ timed }) => timed.filter((call: TimedCall) => call.tool === tool && !call.isDeclared))
    .map(({ from, to }) => to - from)
    .toSorted((a, b) => a - b);
  const longest = some.at(-1);
  if (longest === undefined) return null;
  const at = (share: number) => some[Math.min(some.length - 1, Math.floor(some.length * share))] ?? longest;
  return { tool, calls: some.length, median: at(0.5), p99: at(0.99), longest };
};

const tuneLimit = (policy: CompiledPolicy, limit: Limit, works: readonly Work[], mostWrong: number): Tuned => {
  const tried = tryAll(policy, limit, works);
  const present = tried.find(({ value }) => value === limit.value) as Tried;
  return {
    limit,
    judged: works.length,
    tried,
    present,
    ...proposalOf(tried, present, Math.floor(mostWrong * works.length)),
    durations: limit.isAbsence ? durationsOf(present.tools[0]?.tool, works) : null,
  };
};

/** All findings of a policy. A finding by absences alone ends when the agent continues. */
const judgedBy = (policy: CompiledPolicy, works: readonly Work[]): Tried => {
  const axisOf = new Map(policy.uses.map(({ name, signal }) => [name, SIGNALS[signal as SignalName].axis]));
  const isAbsence = (signals: readonly string[]) => signals.every((name) => axisOf.get(name) === 'absence');
  const found = works.flatMap((work) => findingsIn(work, work.changesUnder(policy), isAbsence));
  return triedWith(0, found);
};

/**
 * Judges recorded work under each limit of a policy with smaller and larger values. Proposes others where findings were
 * wrong, or would have come too late.
 */
export const tune = (policy: CompiledPolicy, works: readonly Work[], { mostWrong, onLimit }: TuneOptions): Tuning => {
  const limits = limitsOf(policy);
  const tuned: Tuned[] = [];
  const unfed: Limit[] = [];
  for (const [i, limit] of limits.entries()) {
    onLimit(i, limits.length);
    const feeding = works.filter(({ inputs }) => !fedBy(policy, inputs).unfed.some(({ name }) => name === limit.name));
    if (feeding.length === 0) unfed.push(limit);
    else tuned.push(tuneLimit(policy, limit, feeding, mostWrong));
  }
  // A limit of a signal that is only DEGRADED leads to no step: it is shown, and stays.
  const changes = tuned.flatMap(({ limit, proposed }) =>
    proposed === null || limit.state === 'DEGRADED' ? [] : [{ limit, to: proposed.value }],
  );
  const changed = changes.reduce((before, { limit, to }) => withLimit(before, limit, to), policy);
  return {
    works: works.length,
    successful: works.filter(({ success }) => success === true).length,
    seconds: works.reduce((sum, { seconds }) => sum + seconds, 0),
    limits: tuned,
    unfed,
    before: judgedBy(policy, works),
    after: judgedBy(changed, works),
    changes,
  };
};
