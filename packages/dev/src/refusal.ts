/** A problem that the person at the keyboard can solve: the message is one sentence with the problem and the remedy. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}

/** Ends a command with an error: a refusal is a sentence, any other error is an internal one and keeps its stack. */
export const endWith = (error: unknown): void => {
  console.error(error instanceof Refusal ? error.message : error);
  process.exitCode = 1;
};
