import { Refusal } from './servers/refusal.ts';

/** Ends a command with an error: a refusal is a sentence, any other error is an internal one and keeps its stack. */
export const endWith = (error: unknown): void => {
  console.error(error instanceof Refusal ? error.message : error);
  process.exitCode = 1;
};
