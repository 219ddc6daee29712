import { duration, spell } from '@vigil/policy';
import { NEVER } from '@vigil/stream';
import { z } from 'zod';
import { MOST_TIMES } from '../history/calls/errors.ts';
import {
  countInTurn,
  loops,
  MAX_CYCLE,
  type Row,
  type Runs,
  sameInTurn,
  toolMark,
  toolMarkIn,
  waits,
} from '../history/calls/runs.ts';
import type { History } from '../history/history.ts';
import { type AnySignal, isAmong, ofTools, ofTurn, type PerTurn, perTurn, signal, spelled, tools } from './signal.ts';

const times = z.int().min(2);
/** Each kind of repetition has a limit of its own. All but the first two are off without a limit. */
const limits = z
  .strictObject({
    /** the same call with the same result, in a row */
    times,
    max_cycle: z.int().min(1).max(MAX_CYCLE).default(MAX_CYCLE),
    /** repetitions of a cycle; `times` by default */
    cycles: times.optional(),
    /** the same two limits, for results with masked numbers */
    masked_times: times.optional(),
    masked_cycles: times.optional(),
    /** the same call failing, with any error */
    failing_times: times.optional(),
    /** calls of any kind in a row without new results */
    stale_times: times.optional(),
    /** the same with at most four different calls, in any order */
    rotation_times: times.max(MAX_CYCLE).optional(),
    /** the minimum duration of a row of polling calls */
    polling_after: duration.default(1_800_000),
    /** only repetitions of these tools, or of all but these; a cycle counts by its last call */
    ...tools,
    ...perTurn,
  })
  .transform((l) => ({
    ...l,
    cycles: l.cycles ?? l.times,
    masked_times: l.masked_times ?? NEVER,
    masked_cycles: l.masked_cycles ?? NEVER,
    failing_times: l.failing_times ?? NEVER,
    stale_times: l.stale_times ?? NEVER,
    rotation_times: l.rotation_times ?? NEVER,
  }));
type Limits = z.output<typeof limits>;

/** One kind of repetition: its count, when it fires, and its description. */
type Way = {
  readonly value: number;
  readonly limit: number;
  readonly from: number;
  /** null: calls of several tools */
  readonly tool: string | null;
  /** when its first call was made; null: unknown */
  readonly since: number | null;
  readonly words: () => string;
  /** the same for the agent, after "You have made" */
  readonly finding: (now: number) => string;
};

/** Repeated identical operations. It is a count, so it fires when reached; it ends with progress. */
export const repeatedCalls: AnySignal = signal(limits, {
  axis: 'repetition',
  awaits: ['change'],
  by: 'runs',
  firesFrom: ({ runs }, l) => {
    if (!repeats(runs)) return NEVER;
    let first = NEVER;
    for (const { value, limit, from, tool } of waysOf(runs, l))
      if (value >= limit && isAmong(tool, l)) first = Math.min(first, from);
    return first;
  },
  evidence: ({ runs }, l) => {
    const { value, limit, words } = reachedOf(runs, l) ??
      waysOf(runs, l)[0] ?? { value: 0, limit: l.times, words: () => '' };
    const often = value < 2 ? 'no call twice in a row with the same result' : words();
    return { value, limit, words: `${often}; limit ${limit}`, hard: false };
  },
  lasting: ({ runs }, l, { now }) => {
    const since = reachedOf(runs, l)?.since ?? null;
    return since === null ? null : Math.max(0, now - since);
  },
  finding: ({ runs }, l, { now }) =>
    `You have made ${(reachedOf(runs, l) ?? waysOf(runs, l)[0])?.finding(now) ?? 'no call twice'}.`,
  advice:
    'The same call gives the same result: do not repeat it. Read what the last one returned, then change the arguments or the approach, or state what you need.',
});

/** The first kind of repetition that has reached its limit. */
const reachedOf = (runs: Runs, l: Limits): Way | undefined =>
  waysOf(runs, l)
    .filter(({ value, limit, tool }) => value >= limit && isAmong(tool, l))
    .sort((x, y) => x.from - y.from)[0];

/** A fast path, because most agents repeat nothing most of the time. */
const repeats = ({ exact, masked, failing, stale }: Runs): boolean =>
  inRow(exact) || (masked !== null && inRow(masked)) || failing.top > 1 || stale.count > 1;

const some = (counts: readonly number[]): boolean => counts.some((count) => count > 0);
const inRow = ({ top, same }: Row): boolean => some(top) || some(same);

const waysOf = (runs: Runs, l: Limits): readonly Way[] => {
  const again = `times in a row${ofTurn(l)} with the same result`;
  const [exact, masked] = [counted(runs.exact, runs, l), counted(runs.masked ?? runs.exact, runs, l)];
  const failing = failingOf(runs, l);
  const stale = { count: l.per === 'turn' ? countInTurn(runs.stale) : runs.stale.count, at: runs.stale.at };
  const few = Math.min(stale.count, runs.stale.few ?? 0);
  return [
    ...inRowOf(exact, 1, l.times, l, `the same call (#) ${again}`),
    ...inCycleOf(exact, l.cycles, l, `the same cycle of calls (#) ${again}`),
    ...inRowOf(masked, 1, l.masked_times, l, `the same call but for numbers (#) ${again}`),
    ...inCycleOf(masked, l.masked_cycles, l, `the same cycle of calls but for numbers (#) ${again}`),
    {
      ...failing,
      limit: l.failing_times,
      since: null,
      words: () => `the same call failing ${failing.value} times in a row${ofTurn(l)}`,
      finding: () => `the same call ${failing.value} times in a row, and it has failed each time`,
    },
    {
      value: stale.count,
      limit: l.stale_times,
      from: stale.at,
      tool: null,
      since: null,
      words: () => `${stale.count} calls in a row that reported nothing new`,
      finding: () => `${stale.count} calls in a row that returned nothing new`,
    },
    {
      value: few,
      limit: l.rotation_times,
      from: stale.at,
      tool: null,
      since: null,
      words: () => `${few} calls in a row, few of them different, that reported nothing new`,
      finding: () => `${few} calls in a row, few of them different, and they returned nothing new`,
    },
  ];
};

/** The repetitions of a row that count. `top`: the most for each period, and those of polls only in `same`. */
type Counts = Pick<Row, 'same' | 'top' | 'tool' | 'at' | 'since'> & { readonly polls: number };

/** In a turn only the present row counts, and only while it lasts. Its last call is the last one that was asked. */
const counted = (row: Row, runs: Runs, { per }: Limits): Counts => {
  const { polls = 0 } = runs;
  if (per === 'instance') return { ...row, polls };
  const same = sameInTurn(row, runs);
  return {
    same,
    top: same.map((_, i) => loops(same, i + 1, polls)),
    tool: polls === 0 ? runs.asked.tool : row.tool,
    at: row.last,
    since: Math.max(row.since, runs.turn?.since ?? 0),
    polls,
  };
};

const failingOf = ({ failing, asked, turn }: Runs, { per }: Limits): Pick<Way, 'value' | 'from' | 'tool'> => {
  if (per === 'instance') return { value: failing.top, from: failing.at, tool: failing.tool };
  return { value: Math.min(failing.count, turn?.calls ?? NEVER), from: asked.at, tool: asked.tool };
};

/** The finding since the last progress, and the polls of the present row. */
const inRowOf = (row: Counts, period: number, limit: number, l: Limits, words: string): readonly Way[] => {
  const isInRow = (row.same[period - 1] ?? 0) > 0;
  const way = (value: number, from: number, more = ''): Way => {
    const often = words.replace('(#)', `(${row.tool}) ${value}`);
    const finding = (now: number) => `${often}${isInRow ? `, the first of them ${spelled(now - row.since)} ago` : ''}`;
    return {
      value,
      limit,
      from,
      tool: row.tool,
      since: isInRow ? row.since : null,
      words: () => often + more,
      finding,
    };
  };
  const found = way(row.top[period - 1] ?? 0, row.at);
  const polls = waits(row.same, period, row.polls);
  if (polls === 0) return [found];
  const lasted = `, polling for ${spell(Math.max(0, row.at - row.since))}`;
  return [found, way(polls, Math.max(row.at, row.since + l.polling_after + 1), lasted)];
};

const inCycleOf = (row: Counts, limit: number, l: Limits, words: string): readonly Way[] => {
  const periods = Array.from({ length: l.max_cycle - 1 }, (_, i) => i + 2);
  return periods.flatMap((period) => inRowOf(row, period, limit, l, words));
};

const answerLimits = z.strictObject({ times, ...tools, ...perTurn });
const answeredTimes = ({ answer }: Runs, { per }: PerTurn): number =>
  per === 'turn' ? countInTurn(answer) : answer.count;

/** One tool gives the same answer in a row to any question: nothing new is learnt. It lasts until another answer. */
export const repeatedAnswer: AnySignal = signal(answerLimits, {
  axis: 'repetition',
  awaits: [],
  by: 'runs',
  firesFrom: ({ runs }, l) =>
    answeredTimes(runs, l) >= l.times && isAmong(runs.answer.tool, l) ? runs.answer.at : NEVER,
  evidence: ({ runs }, l) => {
    const value = answeredTimes(runs, l);
    const often = `the same answer (${runs.answer.tool}) ${value} times in a row${ofTurn(l)}`;
    const words = value < 2 ? 'no answer twice in a row' : often;
    return { value, limit: l.times, words: `${words}; limit ${l.times}`, hard: false };
  },
  finding: ({ runs }, l) =>
    `Your last ${answeredTimes(runs, l)} calls of ${runs.answer.tool} have all given the same answer to any question.`,
  advice: 'This way brings nothing new. Look somewhere else, or name what you are looking for.',
});

const argumentLimits = z.strictObject({
  times,
  /** only calls whose results are unknown */
  results: z.enum(['any', 'unknown']).default('any'),
  ...tools,
  ...perTurn,
});
const askedTimes = ({ asked }: Runs, { results, per }: z.output<typeof argumentLimits>): number =>
  Math.min(results === 'any' ? asked.count : asked.blind, per === 'turn' ? countInTurn(asked) : NEVER);

/** The same call in a row, with any results. It lasts until another call. */
export const repeatedArguments: AnySignal = signal(argumentLimits, {
  axis: 'repetition',
  awaits: [],
  by: 'runs',
  firesFrom: ({ runs }, l) => (askedTimes(runs, l) >= l.times && isAmong(runs.asked.tool, l) ? runs.asked.at : NEVER),
  evidence: ({ runs }, l) => {
    const value = askedTimes(runs, l);
    const which = l.results === 'any' ? 'with any results' : 'without a known result';
    const words =
      value < 2 ? 'no call twice in a row' : `the same call (${runs.asked.tool}) ${value} times in a row${ofTurn(l)}`;
    return { value, limit: l.times, words: `${words}, ${which}; limit ${l.times}`, hard: false };
  },
  finding: ({ runs }, l) => `You have made the same call (${runs.asked.tool}) ${askedTimes(runs, l)} times in a row.`,
  advice: 'If you wait for something, name it. Otherwise change the arguments or the approach.',
});

const frequentLimits = z
  .strictObject({ times, of: z.int().min(2).max(MAX_CYCLE), ...tools, ...perTurn })
  .refine((l) => l.times <= l.of, {
    path: ['times'],
    message: 'is above of, so it is never reached: write at most as many as of',
  });
type Frequent = z.output<typeof frequentLimits>;

/** The last calls, at most `of`; with `per: turn` those of the present turn only. */
const lastOf = ({ exact: { recent }, turn }: Runs, { of, per }: Frequent): readonly number[] => {
  const most = per === 'turn' && turn !== undefined ? Math.min(of, turn.calls) : of;
  return most === 0 ? [] : recent.slice(-most);
};

/** How often the most frequent call of the named tools occurs among the last calls of any tools. */
const frequency = (runs: Runs, l: Frequent): number => {
  const [only, without] = [l.applies_to.map(toolMark), l.except.map(toolMark)];
  const counts = new Map<number, number>();
  for (const sign of lastOf(runs, l)) {
    const tool = toolMarkIn(sign);
    const isCounted = (only.length === 0 || only.includes(tool)) && !without.includes(tool);
    if (isCounted) counts.set(sign, (counts.get(sign) ?? 0) + 1);
  }
  return Math.max(0, ...counts.values());
};

/** The same call with the same result among the last ones, also if others are between. */
export const frequentCall: AnySignal = signal(frequentLimits, {
  axis: 'repetition',
  awaits: [],
  by: 'runs',
  firesFrom: ({ runs }, l) =>
    runs.exact.recent.length >= l.times && frequency(runs, l) >= l.times ? runs.exact.last : NEVER,
  evidence: ({ runs }, l) => {
    const value = frequency(runs, l);
    const among = `among the last ${lastOf(runs, l).length}${ofTurn(l)}`;
    const words = `one call${ofTools(l)} with the same result ${value} times ${among}; limit ${l.times} of ${l.of}`;
    return { value, limit: l.times, words, hard: false };
  },
  finding: ({ runs }, l) =>
    `Of your last ${lastOf(runs, l).length} calls, ${frequency(runs, l)} were the same and gave the same result.`,
  advice: 'The same call gives the same result. Read what it returned, then try another way.',
});

const errorLimits = z.strictObject({ times: z.int().min(2).max(MOST_TIMES), within: duration });

/** The same error of any calls. It is a count, so it fires when reached; it ends with progress. */
export const repeatedError: AnySignal = signal(errorLimits, {
  axis: 'repetition',
  awaits: ['change'],
  by: 'errors',
  firesFrom: ({ errors }, { times, within }) => ((errors.spans[times - 2] ?? NEVER) <= within ? errors.at : NEVER),
  evidence: ({ errors }, { times, within }) => {
    const value = errors.spans.findLastIndex((span) => span <= within) + 2;
    const found = errors.spans.length > 0 && value > 1;
    const words = found ? `the same error (${errors.name}) ${value} times` : 'no error twice';
    return {
      value: found ? value : null,
      limit: times,
      words: `${words} within ${spell(within)}; limit ${times}`,
      hard: false,
    };
  },
  finding: ({ errors }, { within }) => {
    const times = errors.spans.findLastIndex((span) => span <= within) + 2;
    return `The same error (${errors.name ?? 'unnamed'}) has come ${times} times within ${spelled(within)}.`;
  },
  advice: 'Find its cause before the next attempt. Try another way, or report what blocks you.',
});

/** Reads and edits of one target that do not change it. */
export const sameTarget: AnySignal = signal(z.strictObject({ times: z.int().min(2) }), {
  axis: 'repetition',
  awaits: ['change'],
  by: 'targets',
  firesFrom: ({ targets }, { times }) => (targets.top >= times ? targets.at : NEVER),
  evidence: ({ targets: { top, name } }, { times }) => {
    const often = top === 0 ? 'no target read or edited in vain' : `${name} read or edited ${top} times without change`;
    return { value: top, limit: times, words: `${often}; limit ${times}`, hard: false };
  },
  finding: ({ targets: { top, name } }) =>
    `You have read or edited ${name ?? 'one file'} ${top} times without changing it.`,
  advice: 'Decide what has to change there and change it, or continue elsewhere.',
});

/** The limit of a loop: the same call, cycle, error, or RETRY this often in a row. */
const LOOP_TIMES = 3;
const LOOP_WITHIN_MS = 600_000;

/** The start of a loop of any kind, or NEVER. It can confirm another signal, but is not a finding by itself. */
const loopFrom = ({ runs, errors, steps }: History): number => {
  const { top, at } = runs.exact;
  const repeats = top.some((times) => times >= LOOP_TIMES);
  const fails = (errors.spans[LOOP_TIMES - 2] ?? NEVER) <= LOOP_WITHIN_MS;
  return Math.min(repeats ? at : NEVER, fails ? errors.at : NEVER, steps.retries >= LOOP_TIMES ? steps.at : NEVER);
};

const acceptLimits = z.strictObject({
  at: z.int().min(1),
  /** only during a loop: the same call, cycle or error three times, or three RETRY in a row */
  needs_loop: z.boolean().default(false),
});

/** Steps since the last ACCEPT; it ends with the next. */
export const noAccept: AnySignal = signal(acceptLimits, {
  axis: 'repetition',
  awaits: ['accept'],
  by: 'steps',
  firesFrom: (h, l) => {
    if (h.steps.sinceAccept < l.at) return NEVER;
    return l.needs_loop ? Math.max(h.steps.at, loopFrom(h)) : h.steps.at;
  },
  evidence: (h, l) => {
    const { sinceAccept: value } = h.steps;
    const steps = value === 1 ? '1 step' : `${value} steps`;
    const loop = !l.needs_loop ? '' : loopFrom(h) < NEVER ? ', in a loop' : ', in no loop';
    return { value, limit: l.at, words: `${steps} since the last ACCEPT${loop}; limit ${l.at}`, hard: false };
  },
  finding: ({ steps }) => `None of your last ${steps.sinceAccept} steps has been accepted.`,
  advice: 'Read why they were not accepted, then change the approach or state what you need.',
});
