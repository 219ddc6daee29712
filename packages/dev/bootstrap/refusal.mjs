/** Something the person at the keyboard can put right: the message is one sentence that says how. */
export class Refusal extends Error {}

export const say = (text) => process.stderr.write(`[bootstrap] ${text}\n`);
