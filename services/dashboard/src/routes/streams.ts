import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../access/people.ts';
import { Problem } from '../problem.ts';

/** How often the token of an open stream is checked, milliseconds. */
const CHECK_MS = 1000;
/** A stream without events shows that it is alive this often, milliseconds. */
const ALIVE_MS = 15_000;
/** A reader that is this far behind is cut off; it connects again and continues. */
const LARGEST_BACKLOG = 64 * 1024 * 1024;

/**
 * Streams at once: of one caller, and of all. Each event is written to every stream. All who share the token
 * `VIGIL_DASHBOARD_TOKEN` are one caller.
 */
export const MOST_OF_CALLER = 16;
export const MOST_STREAMS = 64;

export type StreamType = 'application/x-ndjson' | 'text/event-stream';

/** An answer that continues until its caller leaves, its token ends, or the service does. */
export type Stream = {
  /** Aborted at the end. */
  readonly ended: AbortSignal;
  /** Cuts off a reader that is too far behind. */
  readonly write: (text: string) => void;
  /** The same, at the speed of the reader. */
  readonly writeSlowly: (text: string) => Promise<void>;
  readonly end: () => void;
};

export type Streams = { readonly open: (request: FastifyRequest, reply: FastifyReply, type: StreamType) => Stream };

/** `signal` ends all streams. */
export const openStreams = (signal: AbortSignal): Streams => {
  /** the names of the callers of open streams, one for each stream */
  let open: readonly string[] = [];

  /** Throws Problem. */
  const requireRoom = (name: string): void => {
    const detail =
      open.filter((one) => one === name).length >= MOST_OF_CALLER
        ? `${name} has ${MOST_OF_CALLER} streams of events open, the most of one caller: close one of them.`
        : open.length >= MOST_STREAMS
          ? `${MOST_STREAMS} streams of events are open, the most of this dashboard: try again when one has ended.`
          : null;
    if (detail !== null) throw new Problem(429, 'too_many_streams', detail);
  };

  return {
    open: (request, reply, type) => {
      const { name: caller } = request.getDecorator<Caller>('caller');
      requireRoom(caller);
      open = [...open, caller];
      reply.hijack();
      const out = reply.raw;
      for (const [name, value] of Object.entries(reply.getHeaders()))
        if (value !== undefined) out.setHeader(name, value);
      out.writeHead(200, { 'content-type': type });
      out.flushHeaders();
      const ended = new AbortController();
      const end = () => out.end();
      signal.addEventListener('abort', end, { once: true });
      const isValid = request.getDecorator<() => boolean>('isValid');
      const checking = setInterval(() => isValid() || end(), CHECK_MS);
      const alive = type === 'text/event-stream' ? setInterval(() => out.write(':\n\n'), ALIVE_MS) : undefined;
      out.on('close', () => {
        clearInterval(checking);
        clearInterval(alive);
        open = open.toSpliced(open.indexOf(caller), 1);
        signal.removeEventListener('abort', end);
        ended.abort();
      });
      return {
        ended: ended.signal,
        end,
        write: (text) => {
          if (out.writableLength > LARGEST_BACKLOG) out.destroy();
          else out.write(text);
        },
        writeSlowly: (text) =>
          new Promise((resolve) => {
            if (ended.signal.aborted || out.write(text)) return resolve();
            const go = () => {
              out.off('drain', go);
              ended.signal.removeEventListener('abort', go);
              resolve();
            };
            out.on('drain', go);
            ended.signal.addEventListener('abort', go);
          }),
      };
    },
  };
};
