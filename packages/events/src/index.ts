export { type Codec, type Decoded, memoryCodec, type SchemaSource } from './codec.ts';
export { RegistryTrouble, Undecodable, Unfit, UnknownSchemaId } from './errors.ts';
export type { ContentOf, Draft, Envelope, EventOf, HealthEvent, PayloadOf } from './event.ts';
export { catalogue, Topic, type TopicName } from './generated/catalogue.ts';
export type * from './generated/types.ts';
export { checkHeartbeat, ID, parseHeartbeat, parsePayload } from './parse.ts';
export { connectCodec, registerSchemas } from './registry.ts';
export { topicNames } from './schemas.ts';
export type { EventInfo, TopicInfo } from './topic.ts';
