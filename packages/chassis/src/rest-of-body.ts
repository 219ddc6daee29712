import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** The most bytes that are read after a refusal. A client that sends more may lose its answer with the connection. */
export const MOST_REFUSED_BYTES = 16 * 1024 * 1024;
/** How long the answer to a client that closes its connection waits for the rest of its body. */
const REST_MS = 5000;

/**
 * A connection that is closed while its client still writes is reset, and the client loses the answer. So the rest of a
 * refused body is read and dropped, up to a limit of bytes here and of time by `requestTimeout`. Fastify would close the
 * connection at once. One that its client does not keep is closed by Node after the answer, which waits for the body.
 */
const dropRest = async ({ raw }: FastifyRequest, reply: FastifyReply): Promise<void> => {
  if (raw.complete !== false || reply.statusCode < 400 || reply.statusCode >= 500) return;
  reply.removeHeader('connection');
  // A body that is decompressed has come too far.
  raw.unpipe();
  const { promise: isOver, resolve } = Promise.withResolvers<void>();
  let bytes = 0;
  raw.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= MOST_REFUSED_BYTES) return;
    resolve();
    if (reply.raw.writableFinished) raw.destroy();
  });
  raw.once('end', resolve).once('close', resolve);
  if (!reply.raw.shouldKeepAlive) await Promise.race([isOver, sleep(REST_MS, undefined, { ref: false })]);
};

/** Lets clients get the answer to a body that is refused before it has arrived. */
export const answerRefusedBodies = (app: FastifyInstance): void => {
  app.addHook('onSend', dropRest);
};
