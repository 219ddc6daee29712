/**
 * This process cannot run as it is set up, and a restart changes nothing: an operator must follow the message. Ends the
 * process with code 2, which its supervisor does not restart. Any error with `exitCode: 2` counts as one.
 */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly exitCode = 2;
}

/** 2 where a person must act first, else 1: restart with back-off. */
export const exitCodeOf = (error: unknown): 1 | 2 =>
  error instanceof Error && 'exitCode' in error && error.exitCode === 2 ? 2 : 1;
