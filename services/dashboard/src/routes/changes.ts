import type { Change, Changes } from '@vigil/read-model';
import type { FastifyInstance } from 'fastify';
import type { Streams } from './streams.ts';

/** Changes are collected for this time, milliseconds: a busy agent changes several times a second. */
const COLLECT_MS = 100;

/** The ids of rows as they change, as server-sent events: `changes` with `[[table, id], …]`, and `reset` where all may have changed. */
export const changeRoutes = (app: FastifyInstance, changes: Changes, streams: Streams): void => {
  app.get('/v1/changes', (request, reply) => {
    const stream = streams.open(request, reply, 'text/event-stream');
    const collected = new Map<string, Change>();
    let isReset = true;
    const send = (): void => {
      if (isReset) stream.write('event: reset\ndata: {}\n\n');
      else if (collected.size > 0) stream.write(`event: changes\ndata: ${JSON.stringify([...collected.values()])}\n\n`);
      collected.clear();
      isReset = false;
    };
    const stop = changes.listen((changed) => {
      if (changed === null) isReset = true;
      else for (const change of changed) collected.set(change.join('\n'), change);
    });
    // A reader fetches everything after it has connected.
    send();
    const sending = setInterval(send, COLLECT_MS);
    stream.ended.addEventListener('abort', () => {
      clearInterval(sending);
      stop();
    });
  });
};
