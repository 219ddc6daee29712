import { writeSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

/** The size of one gzip member, characters. Each is written at once, so that no more is kept. */
const MEMBER = 1 << 20;

/** Lines, gzipped into an open file or a pipe. */
export class GzipLines {
  readonly #file: number;
  #lines: string[] = [];
  #length = 0;

  constructor(file: number) {
    this.#file = file;
  }

  readonly write = (line: string): void => {
    this.#lines.push(line);
    this.#length += line.length + 1;
    if (this.#length >= MEMBER) this.flush();
  };

  /** Writes the lines that are still kept. */
  flush(): void {
    if (this.#lines.length === 0) return;
    const member = gzipSync(`${this.#lines.join('\n')}\n`);
    // A pipe may take a part of it.
    for (let at = 0; at < member.length; ) at += writeSync(this.#file, member, at);
    this.#lines = [];
    this.#length = 0;
  }
}
