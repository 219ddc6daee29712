type Say = (fields: object, message: string) => void;

/** Where the runners say what happens; pino fits. */
export type Logger = { readonly info: Say; readonly warn: Say; readonly error: Say };

export const silent: Logger = { info: () => {}, warn: () => {}, error: () => {} };
