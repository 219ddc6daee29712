export { DeadLetter, Fatal, Refused, Retry, Unwelcome } from './errors.ts';
export {
  KAFKA_ACCESS_SETTINGS,
  KAFKA_ACCESS_VARIABLES,
  type KafkaAccess,
  type KafkaVariables,
  kafkaFrom,
  plaintext,
} from './kafka/access.ts';
export { type Acl, applyAcls, PRINCIPALS, planAcls } from './kafka/acls.ts';
export { askBrokers } from './kafka/client.ts';
export { connectLog, type LogOptions, reachBrokers } from './kafka/connect.ts';
export { HANGS_AFTER_MS, type Hanging, hangingTransactions } from './kafka/hanging-transactions.ts';
export { Refusal as RefusedByBroker } from './kafka/serialized-producer.ts';
export { applyTopics, compareTopics, type PlannedTopic, planTopics, type TopicReport } from './kafka/topics.ts';
export { eventOf, throughPartition } from './log/inputs.ts';
export type {
  Batch,
  Bounds,
  Following,
  From,
  Headers,
  Log,
  LogRecord,
  OutRecord,
  PartitionRange,
  Position,
} from './log/log.ts';
export { eventId, partitionOf, positionOf } from './log/partitioner.ts';
export { isEvent, readAndFollow, readEvent, retryLearning, tail, WaitingReader } from './log/reading.ts';
export {
  type ReplayedLetter,
  readDeadLetters,
  refusalOf,
  replayDeadLetters,
  type StoredLetter,
} from './log/replay-dead-letters.ts';
export { type EventOrigin, type NamedDraft, type Writer, writer } from './log/writer.ts';
export { type Logger, silentLogger } from './logger.ts';
export type { Count } from './metrics.ts';
export { type Clock, type Decider, NEVER } from './processor/decider.ts';
export { Fold } from './processor/fold.ts';
export type { Phase } from './processor/partition-task.ts';
export {
  type ProcessorOptions,
  type RunningProcessor,
  runProcessor,
} from './processor/run-processor.ts';
export type { DeciderProcessor, MapperProcessor, Once, Rules, TickRoute, Topology } from './processor/topology.ts';
export { type Processor, snapshotTopic, topicsWritten } from './processor/topology.ts';
export {
  type PlacedEvent,
  type ProjectionBatch,
  type ProjectionOptions,
  runProjection,
} from './projection/run-projection.ts';
export { type ReactorOptions, runReactor } from './reactor/run-reactor.ts';
export type { RunningPart } from './runner/group-reader.ts';
export type { PartitionStatus } from './runner/partition-status.ts';
export { NoAnswer, within } from './runner/within.ts';
export { type FileLogOptions, openFileLog } from './sqlite/file-log.ts';
export { copyFileLog, type TransferOptions, type Transferred, transferFileLog } from './sqlite/transfer.ts';
export type { AtRest, Upgrade } from './state/at-rest.ts';
export { type Form, readAtRest, shapeOf, sparse } from './state/at-rest.ts';
export { type Armed, Deadlines } from './state/deadlines.ts';
export { type Move, movePosition } from './state/move-position.ts';
export { readSnapshot, type SnapshotSource, type SnapshotState } from './state/snapshot-reader.ts';
export { readStates } from './state/snapshot-states.ts';
export { type ClockState, familyOf } from './time/clock.ts';
export { PartitionTime } from './time/partition-time.ts';
export { type Ingress, startIngress } from './time/ticks.ts';
export { beginTrace } from './tracing/spans.ts';
