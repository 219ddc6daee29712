import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { createInflateRaw } from 'node:zlib';
import { DamagedGzip, gunzipped, isGzip } from './gzip.ts';

type Chunks = AsyncIterable<Buffer>;

/** A line of a file and its number from 1. `isUtf8` false: invalid bytes in its text are replaced. */
export type Line = { readonly number: number; readonly text: string; readonly isUtf8: boolean };

/**
 * The lines of a file that are not empty. The file is streamed, plain or gzipped. `-` is standard input. Throws
 * DamagedGzip after the lines before the damage.
 */
export async function* linesOf(file: string): AsyncGenerator<Line> {
  let number = 0;
  for await (const bytes of splitted(await unpacked(file === '-' ? process.stdin : createReadStream(file)))) {
    number += 1;
    const decoded = bytes.toString('utf8');
    const text = (number === 1 ? decoded.replace(/^\uFEFF/, '') : decoded).trim();
    if (text !== '') yield { number, text, isUtf8: isUtf8(bytes) };
  }
}

/** The first two bytes show whether a file is gzipped; its name does not. */
const unpacked = async (chunks: Chunks): Promise<Chunks> => {
  const rest = chunks[Symbol.asyncIterator]();
  let head: Buffer = Buffer.alloc(0);
  while (head.length < 2) {
    const { value, done } = await rest.next();
    if (done) break;
    head = Buffer.concat([head, value]);
  }
  const whole = (async function* () {
    if (head.length > 0) yield head;
    yield* { [Symbol.asyncIterator]: () => rest };
  })();
  return isGzip(head) ? gunzipped(whole, createInflateRaw) : whole;
};

const NEWLINE = 0x0a;

/** The bytes of each line. */
async function* splitted(chunks: Chunks): AsyncGenerator<Buffer> {
  let pieces: Buffer[] = [];
  try {
    for await (const chunk of chunks) {
      let from = 0;
      for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
        yield Buffer.concat([...pieces, chunk.subarray(from, end)]);
        pieces = [];
        from = end + 1;
      }
      pieces.push(chunk.subarray(from));
    }
  } catch (error) {
    if (error instanceof DamagedGzip && error.isComplete) yield Buffer.concat(pieces);
    throw error;
  }
  yield Buffer.concat(pieces);
}
