import { type Logger, pino } from 'pino';

export type { Logger };

/** Structured lines of JSON on standard output, written at once so that none is lost when the process ends. */
export const openLogger = (service: string, level: string): Logger =>
  pino({ level, base: { service }, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination({ fd: 1, sync: true }));
