/** The request is wrong, or there is no server to send it to. Ends the command with code 2. */
export class CannotProceed extends Error {
  override readonly name = 'CannotProceed';
}

/** The request is refused, or a check has failed. Ends the command with code 1. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}
