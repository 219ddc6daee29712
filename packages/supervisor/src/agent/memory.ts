import type { Activity, PolicyRef } from '@vigil/events';
import type { StepMark } from '../adapters/hive-step-log.ts';
import type { EndRequest } from '../exit/exit-reason.ts';
import type { LoggedStall } from '../exit/stall-log.ts';
import { type HeartbeatState, noHeartbeats } from '../heartbeat/heartbeat.ts';
import { noProgress, type Progress } from '../heartbeat/progress.ts';
import type { OrderExecutorMemory } from '../orders/order-executor.ts';
import type { OutputMemory } from '../output/output-reader.ts';
import type { Chunk } from '../pty-host/ring.ts';
import { type EmulatorMemory, noEmulatorMemory } from '../screen/emulator.ts';
import { noSessions, type SessionsMemory } from '../sessions/agent-sessions.ts';
import type { EventStreamMemory } from '../sessions/event-stream.ts';
import type { SubagentsMemory } from '../sessions/subagents.ts';
import { noCalls, type RecentCalls } from './recent-calls.ts';

/** What a supervisor has observed of an agent beside its terminal. Times in epoch milliseconds. */
export type ObservedState = {
  readonly progress: Progress;
  readonly activity: Activity | null;
  /** the last output that counts as activity */
  readonly outputAt: number | null;
  readonly completionAt: number | null;
  readonly resultAt: number | null;
  readonly isAsking: boolean;
  readonly hasAsked: boolean;
  /** the policy whose patterns it is looked through for, as the gateway served it; null: none is here yet */
  readonly looksFor: { readonly policy: PolicyRef; readonly document: unknown } | null;
  readonly calls: RecentCalls;
};

const nothingObserved: ObservedState = {
  progress: noProgress,
  activity: null,
  outputAt: null,
  completionAt: null,
  resultAt: null,
  isAsking: false,
  hasAsked: false,
  looksFor: null,
  calls: noCalls,
};

/** What the next supervisor continues from, as the PTY host keeps it. Plain JSON. */
export type Memory = OrderExecutorMemory & {
  /** bytes of output that all the rest has taken in */
  readonly read: number;
  readonly startedAt: number;
  readonly observed: ObservedState;
  readonly heartbeatState: HeartbeatState;
  readonly screen: OutputMemory;
  readonly emulator: EmulatorMemory;
  readonly steps: StepMark | null;
  readonly sessions: SessionsMemory;
  /** of its output as a stream of events; null: the output is not a stream */
  readonly stream: EventStreamMemory | null;
  readonly subagents: SubagentsMemory;
  readonly endRequest: EndRequest | null;
  /** in the dispatch log; null: none */
  readonly stall: LoggedStall | null;
};

export const noMemory = (startedAt: number): Memory => ({
  read: 0,
  startedAt,
  observed: nothingObserved,
  heartbeatState: noHeartbeats,
  screen: { lines: 0, lastOutputAt: null, repeated: null, echo: '', sent: [] },
  emulator: noEmulatorMemory,
  steps: null,
  sessions: noSessions,
  stream: null,
  subagents: {},
  highestNumber: -1,
  handedOff: null,
  endRequest: null,
  stall: null,
});

/** The memory in the note of a PTY host; null: it has none yet. An earlier version kept no calls, no stall and no shown errors. */
export const memoryIn = (note: unknown, startedAt: number): Memory => {
  const usual = noMemory(startedAt);
  const kept = note as Memory | null;
  if (kept === null) return usual;
  const [observed, heartbeatState] = [
    { ...usual.observed, ...kept.observed },
    { ...usual.heartbeatState, ...kept.heartbeatState },
  ];
  return { ...usual, ...kept, observed, heartbeatState };
};

/** The past of an instance that is taken over. `seen`: the output that is still kept and that the memory includes. */
export type Past = { readonly memory: Memory; readonly seen: readonly Chunk[] };

/** What of these pieces was printed before this byte. */
export const before = (chunks: readonly Chunk[], byte: number): readonly Chunk[] =>
  chunks
    .filter(({ from }) => from < byte)
    .map((chunk) => ({ ...chunk, data: chunk.data.subarray(0, byte - chunk.from) }));

/** What of this piece was printed from this byte on; null: nothing. */
export const after = (chunk: Chunk, byte: number): Chunk | null => {
  const skipped = Math.max(0, byte - chunk.from);
  if (skipped >= chunk.data.length) return null;
  return { ...chunk, from: chunk.from + skipped, data: chunk.data.subarray(skipped) };
};
