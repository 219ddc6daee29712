import { createReadStream } from 'node:fs';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';

type Chunks = AsyncIterable<Buffer>;

/** A line of a file and its number from 1. The file is streamed, plain or gzipped. `-` is standard input. */
export async function* linesOf(file: string): AsyncGenerator<{ readonly number: number; readonly text: string }> {
  let number = 0;
  for await (const line of splitted(await unpacked(file === '-' ? process.stdin : createReadStream(file)))) {
    number += 1;
    const text = line.replace(number === 1 ? /^\uFEFF/ : /(?!)/, '').trim();
    if (text !== '') yield { number, text };
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
  const gzipped = head[0] === 0x1f && head[1] === 0x8b;
  return gzipped ? pipeline(Readable.from(whole), createGunzip(), () => {}) : whole;
};

async function* splitted(chunks: Chunks): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let pieces: string[] = [];
  for await (const chunk of chunks) {
    const [first = '', ...others] = decoder.decode(chunk, { stream: true }).split('\n');
    pieces.push(first);
    for (const other of others) {
      yield pieces.join('');
      pieces = [other];
    }
  }
  yield pieces.join('') + decoder.decode();
}
