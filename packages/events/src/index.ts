export { blockedLine, FOLDERS, frictionFile, frictionText, ticketName } from './adapters/omniclaude-friction.ts';
export {
  checkpointChain,
  checkpointRef,
  holdsOnOneHost,
  isCheckpointAddress,
  onEveryHost,
  usableCheckpoints,
} from './checkpoint.ts';
export { type Codec, type Decoded, memoryCodec } from './codec.ts';
export {
  CorrectRegistryVariables,
  KeepSchemasCompatible,
  NewerEvent,
  RegistryTrouble,
  Undecodable,
  Unfit,
  UnknownSchemaId,
} from './errors.ts';
export type {
  BodyOf,
  ContentOf,
  Draft,
  DraftWith,
  Envelope,
  EventOf,
  HealthEvent,
  PayloadOf,
  RestOf,
} from './event.ts';
export { type Remark, shown } from './from-json.ts';
export { catalogue, Topic, type TopicName } from './generated/catalogue.ts';
export { SYMBOLS } from './generated/symbols.ts';
export type * from './generated/types.ts';
export { checkHeartbeat, ID, ID_FORM, parseHeartbeat, parsePayload, readHeartbeat } from './parse.ts';
export {
  type CheckProof,
  LEAST_PROOF_KEY,
  PROOF_HEADER,
  principalText,
  proofCheck,
  proofSigner,
  type SignProof,
} from './proof.ts';
export { connectCodec, registerSchema, registerSchemas } from './registry.ts';
export {
  openRegistry,
  REGISTRY_AUTH_SETTINGS,
  REGISTRY_AUTH_VARIABLES,
  type RegistryAccess,
  type RegistryVariables,
  registryFrom,
} from './registry-access.ts';
export {
  type AnswerMistake,
  type AskedQuestion,
  answersText,
  askedQuestion,
  mistakeInAnswers,
} from './request-answer.ts';
export { checkSchemas, type SchemaCheck } from './schema-check.ts';
export { type NewSchema, type SchemaTable, tableCodec } from './schema-table.ts';
export { schemaOf, topicNames } from './schemas.ts';
export { atItsStart } from './tool-call.ts';
export type { EventInfo, TopicInfo } from './topic.ts';
