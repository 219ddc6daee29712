export type { AtRest, Upgrade } from './at-rest.ts';
export { familyOf } from './clock.ts';
export { type Armed, Deadlines } from './deadlines.ts';
export { type Clock, type Decider, NEVER } from './decider.ts';
export { DeadLetter, Fatal, Refused, Retry, Unwelcome } from './errors.ts';
export { Fold } from './fold.ts';
export { throughPartition } from './inputs.ts';
export { connectLog, type LogOptions } from './kafka/connect.ts';
export { HANGS_AFTER_MS, type Hanging, hangingTransactions } from './kafka/hanging.ts';
export { applyTopics, compareTopics, type PlannedTopic, planTopics, type TopicReport } from './kafka/topics.ts';
export type { Batch, Bounds, Following, From, Headers, Log, LogRecord, OutRecord, Position } from './log.ts';
export { type Logger, silentLogger } from './logger.ts';
export { type Count, METRICS, type Metric } from './metrics.ts';
export { type Move, movePosition } from './move-position.ts';
export { partitionOf } from './murmur2.ts';
export { type Peeked, peek, type Seen } from './peek.ts';
export { type Processor, snapshotTopic } from './processor.ts';
export { readOn } from './read-on.ts';
export { isEvent, readEvent, WaitingReader } from './reading.ts';
export {
  type PartitionStatus,
  type ProcessorOptions,
  type RunningProcessor,
  runProcessor,
} from './run-processor.ts';
export {
  type PlacedEvent,
  type ProjectionBatch,
  type ProjectionOptions,
  type RunningPart,
  runProjection,
} from './run-projection.ts';
export { type ReactorOptions, runReactor } from './run-reactor.ts';
export type { Phase } from './slot.ts';
export { type Form, sparse } from './sparse.ts';
export type { Surroundings } from './surroundings.ts';
export { type TailOptions, tail } from './tail.ts';
export { type Ingress, startIngress } from './ticks.ts';
export type { DeciderProcessor, MapperProcessor, Rules, TickRoute, Topology } from './topology.ts';
export { within } from './within.ts';
export { type Outside, type Writer, writer } from './writer.ts';
