/** How many of our texts are remembered, and how much of each. */
const remembered = 8;
const longestText = 4096;

const flat = (text: string): string => text.replace(/\s+/g, ' ').trim();
const isWord = (character: string): boolean => /[\p{L}\p{N}<>]/u.test(character);

/** Without what programs draw around a text: bars, bullets, prompts. */
const unframed = (line: string): string => {
  let [begin, end] = [0, line.length];
  while (begin < end && !isWord(line.charAt(begin))) begin += 1;
  while (end > begin && !isWord(line.charAt(end - 1))) end -= 1;
  return line.slice(begin, end);
};

/**
 * Removes texts that we sent from the output, so that no pattern matches them: whole, or folded into several lines. A line
 * with a single word is removed only where it continues such a line: a text may name the very signal that the agent then gives.
 */
export class EchoFilter {
  #texts: readonly string[] = [];
  /** the rest of a text whose start was the last line */
  #rest: string | null = null;

  /** The texts that are remembered. */
  get texts(): readonly string[] {
    return this.#texts;
  }

  sent(text: string): void {
    const one = flat(text.slice(0, longestText));
    if (one.includes(' ')) this.#texts = [...this.#texts.filter((known) => known !== one), one].slice(-remembered);
  }

  /** The next line of output without Vigil's own text. */
  takenFrom(line: string): string {
    if (this.#texts.length === 0) return line;
    const shown = flat(line);
    const piece = unframed(shown);
    if (piece === '') return line;
    const others = this.#texts.reduce((left, text) => left.replaceAll(text, ' '), shown);
    if (others !== shown) return this.#ours(null, others);
    if (this.#rest !== null && unframed(this.#rest).startsWith(piece))
      return this.#ours(unframed(this.#rest).slice(piece.length), '');
    const text = piece.includes(' ') ? this.#texts.find((one) => one.includes(piece)) : undefined;
    if (text === undefined) return this.#ours(null, line);
    return this.#ours(text.slice(text.indexOf(piece) + piece.length), '');
  }

  #ours(rest: string | null, left: string): string {
    this.#rest = rest;
    return left;
  }
}
