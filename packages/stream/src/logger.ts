type LogMethod = (fields: object, message: string) => void;

/** Where the runners say what happens; pino fits. */
export type Logger = { readonly info: LogMethod; readonly warn: LogMethod; readonly error: LogMethod };

/** For clients that report their own errors to their user, and for tests. */
export const silentLogger: Logger = { info: () => {}, warn: () => {}, error: () => {} };
