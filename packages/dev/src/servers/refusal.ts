/** A problem that the person at the keyboard can solve: the message is one sentence with the problem and the remedy. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}
