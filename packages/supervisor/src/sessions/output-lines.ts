const newline = 0x0a;

/** Puts the lines of an output together that comes in pieces, however they are cut. A line that is too long is dropped alone. */
export class OutputLines {
  readonly #longest: number;
  readonly #onDropped: (bytes: number) => void;
  #parts: Buffer[] = [];
  /** of the line that is not complete yet, dropped ones included */
  #bytes = 0;
  #isDropped = false;

  /**
   * `longest`: the longest line that is kept, bytes; `onDropped`: a line of this many bytes, as far as they came, was
   * dropped
   */
  constructor(longest: number, onDropped: (bytes: number) => void) {
    this.#longest = longest;
    this.#onDropped = onDropped;
  }

  /** The lines that are complete now, without their newlines. */
  take(data: Buffer): readonly string[] {
    const lines: string[] = [];
    let from = 0;
    for (let end = data.indexOf(newline); end >= 0; end = data.indexOf(newline, from)) {
      this.#keep(data.subarray(from, end));
      lines.push(...this.end());
      from = end + 1;
    }
    this.#keep(data.subarray(from));
    return lines;
  }

  /** Some bytes never came: the line that they belong to is dropped. */
  lose(): void {
    this.#isDropped = true;
    this.#parts = [];
  }

  /** What came of the last line, where no newline follows any more. */
  end(): readonly string[] {
    const [parts, bytes, isDropped] = [this.#parts, this.#bytes, this.#isDropped];
    [this.#parts, this.#bytes, this.#isDropped] = [[], 0, false];
    if (isDropped) this.#onDropped(bytes);
    return isDropped || bytes === 0 ? [] : [Buffer.concat(parts).toString('utf8')];
  }

  #keep(data: Buffer): void {
    this.#bytes += data.length;
    if (this.#bytes > this.#longest) this.lose();
    if (!this.#isDropped && data.length > 0) this.#parts.push(Buffer.from(data));
  }
}
