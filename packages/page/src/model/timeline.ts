import type { Entry, Explanation } from '@vigil/read-model';
import type { State } from './fleet.ts';

/** A state of the ribbon, from when to when; epoch milliseconds. */
export type Segment = { readonly state: State; readonly from: number; readonly to: number; readonly reason: string };

/** Something that happened at a moment, in one of the lanes below the ribbon. */
export type Mark = { readonly lane: Lane; readonly at: number; readonly type: string; readonly entry: Entry };

export const LANES = ['checkpoints', 'steps'] as const;
export type Lane = (typeof LANES)[number];

/** The time that the timeline shows, epoch milliseconds. */
export type Span = { readonly from: number; readonly to: number };

const SHORTEST_MS = 600_000;
const MARGIN = 0.02;

/** From the first thing that is known to now; at least ten minutes. */
export const spanOf = (
  { transitions, story, agent }: Pick<Explanation, 'transitions' | 'story' | 'agent'>,
  now: number,
): Span => {
  const known = [...transitions.map(({ occurredAt }) => occurredAt), ...story.map(({ at }) => at), agent.since ?? now];
  const first = Math.min(...known, now - SHORTEST_MS);
  return { from: first - (now - first) * MARGIN, to: now };
};

/** The states of an agent as a ribbon without gaps. `transitions`: newest first, as the API has them. */
export const segmentsOf = (
  { transitions, agent }: Pick<Explanation, 'transitions' | 'agent'>,
  { from, to }: Span,
): readonly Segment[] => {
  const changes = transitions.toReversed().filter(({ occurredAt }) => occurredAt > from);
  const [first] = changes;
  const segments: Segment[] = [
    {
      state: first?.stateFrom ?? agent.state,
      from,
      to: first?.occurredAt ?? to,
      reason: first === undefined ? (agent.reason ?? '') : '',
    },
  ];
  changes.forEach(({ stateTo, reason, occurredAt }, index) => {
    segments.push({ state: stateTo, from: occurredAt, to: changes[index + 1]?.occurredAt ?? to, reason });
  });
  return segments;
};

const LANE_OF: readonly (readonly [Lane, RegExp])[] = [
  ['checkpoints', /CHECKPOINT/],
  ['steps', /^(NUDGE|CASE|STEP|ESCALATION|HANDOFF|AGENT_(PAUSED|RESUMED|TERMINATED)|RECOVERY|ALERT|HOLD|RELEASE)/],
];

/** The events that have a lane, oldest first. */
export const marksOf = (story: readonly Entry[], { from }: Span): readonly Mark[] =>
  story.flatMap((entry) => {
    const lane = LANE_OF.find(([, types]) => types.test(entry.type))?.[0];
    return lane === undefined || entry.at < from ? [] : [{ lane, at: entry.at, type: entry.type, entry }];
  });

/** Where a moment lies in the span, in per cent. */
export const placeIn = ({ from, to }: Span, at: number): number =>
  to <= from ? 0 : Math.min(100, Math.max(0, ((at - from) / (to - from)) * 100));
