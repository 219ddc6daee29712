/** A problem that the person at the keyboard can solve: the message is one sentence with the remedy. */
export class Refusal extends Error {}

export const report = (text) => process.stderr.write(`[bootstrap] ${text}\n`);
