import { once } from 'node:events';
import { crc32, type InflateRaw } from 'node:zlib';

/**
 * Bytes of a gzip file that cannot be unpacked. `isComplete`: whether the content before it is whole, as before other
 * bytes that follow it.
 */
export class DamagedGzip extends Error {
  override readonly name = 'DamagedGzip';
  readonly isComplete: boolean;

  constructor(message: string, isComplete: boolean) {
    super(message);
    this.isComplete = isComplete;
  }
}

/** Bytes that are read piece by piece; what was not needed can be put back. */
class Input {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(chunks: AsyncIterator<Buffer>) {
    this.#chunks = chunks;
  }

  /** The next bytes, as many as there are; null at the end. */
  async next(): Promise<Buffer | null> {
    const kept = this.#rest;
    if (kept.length > 0) {
      this.#rest = Buffer.alloc(0);
      return kept;
    }
    const { value, done } = await this.#chunks.next();
    return done ? null : value.length === 0 ? this.next() : value;
  }

  putBack(bytes: Buffer): void {
    this.#rest = bytes.length === 0 ? this.#rest : Buffer.concat([bytes, this.#rest]);
  }

  /** Exactly `size` bytes. Throws DamagedGzip at the end of the file. */
  async take(size: number): Promise<Buffer> {
    let taken = Buffer.alloc(0);
    while (taken.length < size) {
      const more = await this.next();
      if (more === null) throw new DamagedGzip('the gzip file ends in the middle', false);
      taken = Buffer.concat([taken, more]);
    }
    this.putBack(taken.subarray(size));
    return taken.subarray(0, size);
  }

  async isAtEnd(): Promise<boolean> {
    const next = await this.next();
    if (next !== null) this.putBack(next);
    return next === null;
  }
}

const MAGIC = Buffer.from([0x1f, 0x8b]);
export const isGzip = (head: Buffer): boolean => head.subarray(0, 2).equals(MAGIC);

const [HAS_HEADER_CRC, HAS_EXTRA, HAS_NAME, HAS_COMMENT] = [2, 4, 8, 16];

/** RFC 1952, section 2.3. Nothing in a header is needed. */
const skipHeader = async (input: Input): Promise<void> => {
  const [, , method = 0, flags = 0] = await input.take(10);
  if (method !== 8) throw new DamagedGzip(`the gzip file has the unknown compression method ${method}`, false);
  if (flags & HAS_EXTRA) await input.take((await input.take(2)).readUInt16LE());
  for (const flag of [HAS_NAME, HAS_COMMENT]) if (flags & flag) while ((await input.take(1))[0] !== 0);
  if (flags & HAS_HEADER_CRC) await input.take(2);
};

/** `createInflateRaw` of node:zlib */
type OpenInflater = () => InflateRaw;

/** The content of one member after its header; what follows the member is put back. */
async function* inflated(input: Input, openInflater: OpenInflater): AsyncGenerator<Buffer> {
  const inflate = openInflater();
  try {
    yield* contentOf(inflate, input);
  } finally {
    // A file may have thousands of members, and its reader may stop in any of them.
    inflate.destroy();
  }
}

async function* contentOf(inflate: InflateRaw, input: Input): AsyncGenerator<Buffer> {
  const out: Buffer[] = [];
  inflate.on('data', (piece: Buffer) => out.push(piece));
  const failed = once(inflate, 'error').then(([error]) => error as Error);
  for (let read = 0; ; read = inflate.bytesWritten) {
    const chunk = await input.next();
    if (chunk === null) throw new DamagedGzip('the gzip file ends in the middle', false);
    const written = new Promise<null>((resolve) => inflate.write(chunk, () => resolve(null)));
    const error = await Promise.race([failed, written]);
    yield* out.splice(0);
    if (error !== null) throw new DamagedGzip(`the gzip file is damaged: ${error.message}`, false);
    // It reads nothing after the end of the member, where at least the checksum follows.
    const used = inflate.bytesWritten - read;
    if (used < chunk.length) return input.putBack(chunk.subarray(used));
  }
}

const TRAILER = 8;

async function* member(input: Input, openInflater: OpenInflater): AsyncGenerator<Buffer> {
  await skipHeader(input);
  let sum = 0;
  for await (const piece of inflated(input, openInflater)) {
    sum = crc32(piece, sum);
    yield piece;
  }
  if ((await input.take(TRAILER)).readUInt32LE() !== sum)
    throw new DamagedGzip('the gzip file is damaged: its checksum differs', false);
}

/** Zeros may follow the last member, because some tools pad files with them. */
const skipZeros = async (input: Input): Promise<void> => {
  for (;;) {
    const chunk = await input.next();
    if (chunk === null) return;
    const used = chunk.findIndex((byte) => byte !== 0);
    if (used >= 0) return input.putBack(chunk.subarray(used));
  }
};

/**
 * The content of a gzip file of one or more members. Throws DamagedGzip after everything before the damage: Node's
 * Gunzip drops content that it has read in the same chunk.
 */
export async function* gunzipped(chunks: AsyncIterator<Buffer>, openInflater: OpenInflater): AsyncGenerator<Buffer> {
  const input = new Input(chunks);
  while (!(await input.isAtEnd())) {
    const head = (await input.next()) ?? MAGIC;
    const two = head.length > 1 ? head : Buffer.concat([head, (await input.next()) ?? Buffer.alloc(0)]);
    input.putBack(two);
    if (!isGzip(two)) throw new DamagedGzip('other bytes follow the gzip content, and were not read', true);
    yield* member(input, openInflater);
    await skipZeros(input);
  }
}
