/** A piece of output. `from`: how many bytes were printed before it; `at`: epoch milliseconds. */
export type Chunk = { readonly from: number; readonly at: number; readonly data: Buffer };

/** Pieces so small and so close are kept as one, with the time of the first. */
const MERGED_BYTES = 4096;
const MERGED_MS = 50;
/** What a piece costs beside its bytes, so that many small ones are bounded too. */
const OVERHEAD = 128;

/** The last output of an agent with its times, bounded in memory; named by offsets from its very first byte. */
export class Ring {
  readonly #most: number;
  #chunks: Chunk[] = [];
  #size = 0;
  #next = 0;

  /** `most`: bytes in memory */
  constructor(most: number) {
    this.#most = most;
  }

  /** The oldest byte that is kept. */
  get first(): number {
    return this.#chunks[0]?.from ?? this.#next;
  }
  /** The byte that will be printed next. */
  get next(): number {
    return this.#next;
  }

  push(data: Buffer, at: number): void {
    const last = this.#chunks.at(-1);
    if (last && last.data.length + data.length <= MERGED_BYTES && at - last.at <= MERGED_MS)
      this.#chunks[this.#chunks.length - 1] = { ...last, data: Buffer.concat([last.data, data]) };
    else {
      this.#chunks.push({ from: this.#next, at, data });
      this.#size += OVERHEAD;
    }
    this.#next += data.length;
    this.#size += data.length;
    while (this.#size > this.#most && this.#chunks.length > 1)
      this.#size -= (this.#chunks.shift()?.data.length ?? 0) + OVERHEAD;
  }

  /** The kept bytes from this one on, in one piece; undefined: there is no later output yet, or it is gone. */
  from(offset: number): Chunk | undefined {
    const found = this.#chunks[this.#indexOf(offset)];
    if (found === undefined || offset >= this.#next || offset < found.from) return undefined;
    return { from: offset, at: found.at, data: found.data.subarray(offset - found.from) };
  }

  /** Of the last piece that begins at this byte or before it. */
  #indexOf(offset: number): number {
    let [low, high] = [0, this.#chunks.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.#chunks[middle]?.from ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
