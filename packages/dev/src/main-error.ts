import { Refusal } from './servers/refusal.ts';

/** Last words of a command: a refusal is a sentence, anything else is our own mistake and keeps its stack. */
export const endWith = (error: unknown): void => {
  console.error(error instanceof Refusal ? error.message : error);
  process.exitCode = 1;
};
