export { Refused } from '@vigil/stream/errors';
export { byText, whyText } from './author.ts';
export {
  databaseSettings,
  defaultPolicy,
  type Environment,
  httpUrl,
  logSettings,
  probeSettings,
  proofKey,
  readConfig,
  token,
  whole,
} from './config.ts';
export { kafkaIn, type OpenLogOptions, openLog } from './log.ts';
export type { Count, CounterName, ReadFleet } from './metrics/definitions.ts';
export { showFleet } from './metrics/instruments.ts';
export { mistakeOf } from './mistake.ts';
export { listen, type Part } from './probes.ts';
export { createRefusalLog, type RefusalLog, type RefusedRequest } from './refusals.ts';
export {
  type AssignedService,
  defineService,
  type Logger,
  type Running,
  runService,
  runServices,
  type Service,
} from './service.ts';
export { openHttp, type Tls, tlsFor, tlsSettings } from './tls.ts';
export { answerUnreadable, type Unreadable } from './unreadable.ts';
export { waitAtStart } from './wait-at-start.ts';
