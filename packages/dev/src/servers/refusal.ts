/** Something the person at the keyboard can put right: the message is one sentence that says what is wrong and what to do. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}
