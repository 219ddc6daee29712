export type { ContentOf, Draft, Envelope, EventOf, HealthEvent, PayloadOf } from './event.ts';
export { catalogue, Topic, type TopicName } from './generated/catalogue.ts';
export type * from './generated/types.ts';
export type { EventInfo, TopicInfo } from './topic.ts';
