/** What was asked cannot be asked so, or nobody is there to ask. Ends the command with code 2. */
export class CannotAsk extends Error {
  override readonly name = 'CannotAsk';
}

/** What was asked for is refused, or is not as it should be. Ends the command with code 1. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}
