export { type Environment, readConfig } from './config.ts';
export type { Logger } from './logger.ts';
export type { Count, CounterName } from './metrics.ts';
export { listen } from './probes.ts';
export type { Part } from './readiness.ts';
export { Refused } from './refused.ts';
export { type Running, runService, type Service } from './service.ts';
export { databaseSettings, httpUrl, kafkaSettings, token, whole } from './settings.ts';
