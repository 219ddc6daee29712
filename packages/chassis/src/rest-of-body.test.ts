import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MOST_REFUSED_BYTES } from './rest-of-body.ts';
import { openHttp } from './tls.ts';

const LIMIT = 64 * 1024;
const app = openHttp({ bodyLimit: LIMIT, requestTimeout: 30_000 }, null);
app.post('/', async () => ({ ok: true }));
app.get('/', async () => ({ ok: true }));
let port: number;
beforeAll(async () => {
  port = Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port);
});
afterAll(() => app.close());

/** A client that reads nothing before it has written everything. */
const written = async (...parts: readonly (string | Buffer)[]): Promise<Socket> => {
  const socket = connect(port, '127.0.0.1').pause();
  for (const part of parts)
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject);
      socket.write(part, () => resolve());
    });
  return socket;
};
/** What it reads until it has the end of an answer. */
const answerTo = (socket: Socket): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = '';
    socket
      .removeAllListeners()
      .on('error', reject)
      .on('close', () => reject(new Error(`closed after: ${text}`)));
    socket.on('data', (chunk) => {
      text += chunk;
      if (text.endsWith('}')) resolve(text);
    });
  });

const HEAD = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
const json = (bytes: number): string => JSON.stringify('x'.repeat(bytes - 2));
const sized = (bytes: number) => [`${HEAD}Content-Length: ${bytes}\r\n\r\n`, json(bytes)];
const chunked = (bytes: number) => {
  const piece = `4000\r\n${'x'.repeat(0x4000)}\r\n`;
  return [`${HEAD}Transfer-Encoding: chunked\r\n\r\n`, piece.repeat(Math.ceil(bytes / 0x4000)), '0\r\n\r\n'];
};

test.each([
  ['a body just above the limit', sized(LIMIT + 1)],
  ['a body ten times above it', sized(10 * LIMIT)],
  ['a body of 15 MiB', sized(15 * 1024 * 1024)],
  ['chunks without a length just above it', chunked(LIMIT + 1)],
  ['chunks without a length ten times above it', chunked(10 * LIMIT)],
])(
  '%s is refused with 413, which each client gets that writes it to the end, and its connection stays',
  async (_, parts) => {
    for (let time = 0; time < 10; time += 1) {
      const socket = await written(...parts);
      expect(await answerTo(socket)).toMatch(/^HTTP\/1\.1 413 [\s\S]*"statusCode":413/);
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      expect(await answerTo(socket)).toMatch(/^HTTP\/1\.1 200 /);
      socket.destroy();
    }
  },
);

test.each([
  ['with a length', sized(10 * LIMIT)],
  ['in chunks', chunked(10 * LIMIT)],
])('a client that does not keep its connection gets the answer to a body %s, too', async (_, [head = '', ...rest]) => {
  for (let time = 0; time < 10; time += 1) {
    const socket = await written(head.replace(HEAD, `${HEAD}Connection: close\r\n`), ...rest);
    expect(await answerTo(socket)).toMatch(/^HTTP\/1\.1 413 /);
    socket.destroy();
  }
});

test('a body within the limit is taken', async () => {
  for (const parts of [sized(LIMIT), sized(100)]) {
    const socket = await written(...parts);
    expect(await answerTo(socket)).toMatch(/^HTTP\/1\.1 200 /);
    socket.destroy();
  }
});

test('a refused body without an end is not read without an end', async () => {
  const socket = await written(`${HEAD}Transfer-Encoding: chunked\r\n\r\n`);
  const closed = new Promise<void>((resolve) => void socket.on('error', () => {}).on('close', () => resolve()));
  socket.resume();
  const piece = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
  const isSent = () => new Promise<boolean>((resolve) => void socket.write(piece, (error) => resolve(!error)));
  while (await isSent());
  expect(socket.bytesWritten).toBeGreaterThan(MOST_REFUSED_BYTES);
  await closed;
});

test('a compressed body is not decompressed after it is refused', async () => {
  const { createGunzip } = await import('node:zlib');
  const zipped = openHttp({ bodyLimit: LIMIT }, null);
  let plainBytes = 0;
  zipped.post(
    '/',
    {
      preParsing: async (_request, _reply, payload) => {
        const plain = createGunzip();
        plain.on('data', (chunk: Buffer) => {
          plainBytes += chunk.length;
        });
        return payload.pipe(plain);
      },
    },
    async () => ({ ok: true }),
  );
  const url = await zipped.listen({ host: '127.0.0.1', port: 0 });
  // A thousand times smaller than what comes out.
  const body = gzipSync(Buffer.alloc(50 * 1024 * 1024));
  const answer = await fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
  expect(answer.status).toBe(413);
  await answer.text();
  expect(plainBytes).toBeLessThan(20 * 1024 * 1024);
  await zipped.close();
});
