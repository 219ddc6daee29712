import { describeEvent } from '@vigil/cli/describe';
import type { Explanation, HistoryRow } from '@vigil/read-model';
import type { State } from './fleet.ts';

type Change = Pick<Explanation['transitions'][number], 'occurredAt' | 'stateFrom' | 'stateTo' | 'reason'>;

/** A state of the ribbon, from when to when; epoch milliseconds. */
export type Segment = { readonly state: State; readonly from: number; readonly to: number; readonly reason: string };

/** Something that happened at a moment, in one of the lanes below the ribbon. */
export type Mark = { readonly lane: Lane; readonly at: number; readonly key: string; readonly words: string };

export const LANES = ['checkpoints', 'steps'] as const;
export type Lane = (typeof LANES)[number];

/** The time that the timeline shows, epoch milliseconds. */
export type Span = { readonly from: number; readonly to: number };

type Known = Pick<Explanation, 'story' | 'agent'> & { readonly transitions: readonly Change[] };

const SHORTEST_MS = 60_000;
const MARGIN = 0.02;

/** The first known moment, epoch milliseconds. No state is drawn before it. */
const firstKnown = ({ transitions, story, agent: { since, instanceSince } }: Known, now: number): number =>
  Math.min(
    ...transitions.map(({ occurredAt }) => occurredAt),
    ...story.map(({ at }) => at),
    since ?? now,
    instanceSince ?? now,
  );

/** From the first moment that is known to now; at least a minute. */
export const spanOf = (known: Known, now: number): Span => {
  const first = Math.min(firstKnown(known, now), now - SHORTEST_MS);
  return { from: first - (now - first) * MARGIN, to: now };
};

/**
 * The states of an agent as a ribbon without gaps, from the first moment that is known to the last one, `until`.
 * `transitions`: newest first, as the API has them.
 */
export const segmentsOf = (known: Known, { from, to }: Span, until: number): readonly Segment[] => {
  const { transitions, agent } = known;
  const changes = transitions.toReversed().filter(({ occurredAt }) => occurredAt > from);
  const [first] = changes;
  const begin = Math.max(from, firstKnown(known, to));
  const end = Math.max(until, changes.at(-1)?.occurredAt ?? begin);
  const segments: Segment[] = [
    {
      state: first?.stateFrom ?? agent.state,
      from: begin,
      to: first?.occurredAt ?? end,
      reason: first === undefined ? (agent.reason ?? '') : '',
    },
  ];
  changes.forEach(({ stateTo, reason, occurredAt }, index) => {
    segments.push({ state: stateTo, from: occurredAt, to: changes[index + 1]?.occurredAt ?? end, reason });
  });
  return segments;
};

const STEPS = /^(NUDGE|CASE|STEP|ESCALATION|HANDOFF|AGENT_(PAUSED|RESUMED|TERMINATED)|RECOVERY|ALERT|HOLD|RELEASE)/;

/** The agent's own checkpoints, and what was done about it, oldest first in each lane. */
export const marksOf = (
  { story, checkpoints, agent }: Pick<Explanation, 'story' | 'checkpoints' | 'agent'>,
  { from }: Span,
): readonly Mark[] => [
  ...checkpoints
    .toReversed()
    .filter(({ agentId, writtenAt }) => agentId === agent.agentId && writtenAt >= from)
    .map(({ checkpointId, writtenAt, valid }) => ({
      ...{ lane: 'checkpoints' as const, at: writtenAt, key: checkpointId },
      words: `checkpoint ${checkpointId}${valid === false ? ', not valid' : ''}`,
    })),
  ...story
    .filter(({ type, at }) => STEPS.test(type) && at >= from)
    .map(({ eventId, at, type, payload }) => ({
      ...{ lane: 'steps' as const, at, key: eventId, words: describeEvent(type, payload) },
    })),
];

/** Where a moment lies in the span, in per cent. */
export const placeIn = ({ from, to }: Span, at: number): number =>
  to <= from ? 0 : Math.min(100, Math.max(0, ((at - from) / (to - from)) * 100));

/** The figures of the signals that fired at a change of state: each with its limit, in words. */
export type Figures = { readonly id: string; readonly at: number; readonly words: readonly string[] };

/** The changes of state that name figures, oldest first. `history`: newest first, as the API has it. */
export const figuresOf = (history: readonly HistoryRow[], { from }: Span): readonly Figures[] =>
  history.toReversed().flatMap(({ kind, id, at, evidence }) => {
    if (kind !== 'state' || evidence.length === 0 || at < from) return [];
    const words = evidence.map((one) => `${one.signal}: ${one.words}`);
    return [{ id, at, words }];
  });

/** A change of state in the table: why, or the figure and the limit of each signal that fired. */
export type ChangeLine = Pick<Change, 'occurredAt' | 'stateFrom' | 'stateTo'> & {
  readonly id: string;
  readonly words: readonly string[];
};

/** All changes of state in words, newest first. `history`: newest first, as the API has it. */
export const changeLines = (history: readonly HistoryRow[]): readonly ChangeLine[] =>
  history.flatMap(({ kind, id, at, state, stateFrom, reason, evidence }) => {
    if (kind !== 'state' || state === null || stateFrom === null) return [];
    const figures = evidence.map((one) => `${one.signal}: ${one.words}`);
    return [{ id, occurredAt: at, stateTo: state, stateFrom, words: figures.length > 0 ? figures : [reason ?? ''] }];
  });

/** The changes of state of the stored history, newest first, as an explanation has them. */
export const changesOf = (history: readonly HistoryRow[]): readonly Change[] =>
  history.flatMap(({ kind, at, state, stateFrom, reason }) =>
    kind !== 'state' || state === null || stateFrom === null
      ? []
      : [{ occurredAt: at, stateTo: state, stateFrom, reason: reason ?? '' }],
  );
