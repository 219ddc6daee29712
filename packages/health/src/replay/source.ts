import type { ClockState } from '@vigil/stream';
import type { Observation } from '../evaluator/health.ts';
import type { Decided } from './decided.ts';
import type { Documents } from './documents.ts';
import type { Mark, StoredAgent } from './partition-replay.ts';

/**
 * A part of a log. Epoch milliseconds; null: from the first stored record, to the last. `agent` null: all agents.
 */
export type Span = { readonly from: number | null; readonly to: number | null; readonly agent: string | null };

/**
 * What a source has. The decisions, how far they are complete, and earlier agents come before all records. The rules, the clock and the agents of a
 * partition come before its records, and these in their order.
 */
export type ReplayReader = {
  /** the records of a partition from this offset on are judged by these rules */
  readonly rules: (partition: number, from: number, rules: string) => void;
  /** the clock of a partition before its first record; without it, the clock has not begun */
  readonly clock: (partition: number, clock: Partial<ClockState>) => void;
  /** an agent that is known before the first record */
  readonly agent: (partition: number, agent: StoredAgent) => void;
  /** an agent that was known before the first record, and whose state is not known: its decisions cannot follow */
  readonly earlier: (agent: string) => void;
  readonly decided: (decision: Decided) => void;
  /** every decision on the records of a partition before this offset is recorded; without it, all decisions are */
  readonly complete: (partition: number, before: number) => void;
  /** `input` null: a mark of the runner, or a record that only moves the time */
  readonly record: (partition: number, mark: Mark, input: Observation | null) => void;
  /** a record that cannot be read: the evaluator made a dead letter of it */
  readonly unreadable: (partition: number, offset: number, why: string) => void;
};

/** The observations of a span, with what was decided on them. */
export type ReplaySource = {
  readonly span: Span;
  readonly partitions: number;
  readonly documents: Documents;
  /** Reads everything once. */
  readonly read: (reader: ReplayReader, signal: AbortSignal) => Promise<void>;
};

/** Whether a time is within the span; both ends are. */
export const isWithin = ({ from, to }: Span, at: number): boolean => (from ?? 0) <= at && at <= (to ?? Infinity);
