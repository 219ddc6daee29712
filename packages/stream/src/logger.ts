type LogMethod = (fields: object, message: string) => void;

/** The logger of the runners. A pino logger implements it. */
export type Logger = {
  readonly debug: LogMethod;
  readonly info: LogMethod;
  readonly warn: LogMethod;
  readonly error: LogMethod;
};

/** For clients that report their own errors to their user, and for tests. */
export const silentLogger: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
