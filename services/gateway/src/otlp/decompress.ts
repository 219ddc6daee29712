import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest, RequestPayload } from 'fastify';
import { Problem } from '../http/problem.ts';

const unzipped = (compressed: Readable): RequestPayload => {
  const plain: RequestPayload = createGunzip();
  plain.receivedEncodedLength = 0;
  compressed.on('data', (chunk: Buffer) => {
    plain.receivedEncodedLength = (plain.receivedEncodedLength ?? 0) + chunk.length;
  });
  compressed.on('error', (error) => plain.destroy(error));
  return compressed.pipe(plain as ReturnType<typeof createGunzip>);
};

/**
 * The body of an export as it was before it was compressed. OpenTelemetry asks every receiver to take gzip; its collector sends it. The
 * limit of a request is a limit of what comes out, too.
 */
export const decompressed = async (
  { headers }: FastifyRequest,
  _reply: FastifyReply,
  payload: RequestPayload,
): Promise<RequestPayload> => {
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding === 'identity') return payload;
  if (encoding === 'gzip') return unzipped(payload);
  throw new Problem(415, 'bad_encoding', `content-encoding ${encoding.slice(0, 40)} is not taken: send gzip, or none`);
};
