import type { ServerResponse } from 'node:http';
import { type HealthEvent, Topic } from '@vigil/events';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Feed } from '../feed.ts';
import type { Caller } from '../people.ts';
import { Problem } from '../problem.ts';

const filterShape = z.strictObject({
  topic: z.string().optional(),
  agent: z.string().optional(),
  task: z.string().optional(),
  heartbeats: z.enum(['true', 'false']).default('false'),
});
type Filter = z.output<typeof filterShape>;

const SHORT: Readonly<Record<string, string>> = Topic;
const KNOWN = new Set<string>(Object.values(Topic));

/** A reader that is this far behind is cut off: it may connect again and continue from now. */
const LARGEST_BACKLOG = 4 * 1024 * 1024;

/** How often the token of an open stream is checked, milliseconds. */
const CHECK_MS = 1000;

/**
 * Streams at once: of one caller, and of all. Each event is written to every stream. All who share the token
 * `VIGIL_DASHBOARD_TOKEN` are one caller.
 */
export const MOST_OF_CALLER = 16;
export const MOST_STREAMS = 64;

type About = {
  readonly agentId?: unknown;
  readonly agent_id?: unknown;
  readonly taskId?: unknown;
  readonly task_id?: unknown;
};

/** Whether the filter requests the event. Heartbeats have to be requested: there are too many of them. */
export const isRequested = (event: HealthEvent, { topic, agent, task, heartbeats }: Filter): boolean => {
  const about = event.payload as About;
  const query = topic === undefined ? undefined : (SHORT[topic] ?? topic);
  if (query !== undefined && event.topic !== query) return false;
  if (event.type === 'AGENT_HEARTBEAT' && heartbeats === 'false' && query === undefined) return false;
  if (agent !== undefined && (about.agentId ?? about.agent_id) !== agent) return false;
  return task === undefined || (about.taskId ?? about.task_id) === task;
};

/** The names of the callers of open streams, one for each stream. */
type Open = readonly string[];

/** Throws Problem. */
const requireRoom = (open: Open, name: string): void => {
  const detail =
    open.filter((one) => one === name).length >= MOST_OF_CALLER
      ? `${name} has ${MOST_OF_CALLER} streams of events open, the most of one caller: close one of them.`
      : open.length >= MOST_STREAMS
        ? `${MOST_STREAMS} streams of events are open, the most of this dashboard: try again when one has ended.`
        : null;
  if (detail !== null) throw new Problem(429, 'too_many_streams', detail);
};

const send = (out: ServerResponse, event: HealthEvent): void => {
  if (out.writableLength > LARGEST_BACKLOG) out.destroy();
  else out.write(`${JSON.stringify(event)}\n`);
};

/** Live events as lines of JSON (application/x-ndjson), from now on until the caller goes or its token is revoked or expires. */
export const eventRoutes = (app: FastifyInstance, feed: Feed, signal: AbortSignal): void => {
  let open: Open = [];
  app.get('/v1/events', (request, reply) => {
    const filter = filterShape.safeParse(request.query);
    if (!filter.success) throw new Problem(400, 'bad_filter', String(filter.error.issues[0]?.message));
    const { topic } = filter.data;
    if (topic !== undefined && !KNOWN.has(SHORT[topic] ?? topic))
      throw new Problem(400, 'unknown_topic', `There is no topic ${topic}: ${Object.keys(Topic).join(', ')}.`, 'topic');
    const { name: caller } = request.getDecorator<Caller>('caller');
    requireRoom(open, caller);
    open = [...open, caller];
    reply.hijack();
    const out = reply.raw;
    for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) out.setHeader(name, value);
    out.writeHead(200, { 'content-type': 'application/x-ndjson' });
    out.flushHeaders();
    const observations = filter.data.heartbeats === 'true' || (SHORT[topic ?? ''] ?? topic) === Topic.agentObservation;
    const onEvent = (event: HealthEvent) => isRequested(event, filter.data) && send(out, event);
    const stop = feed.listen(onEvent, observations);
    const end = () => out.end();
    signal.addEventListener('abort', end, { once: true });
    const isValid = request.getDecorator<() => boolean>('isValid');
    const checking = setInterval(() => isValid() || end(), CHECK_MS);
    out.on('close', () => {
      clearInterval(checking);
      open = open.toSpliced(open.indexOf(caller), 1);
      stop();
      signal.removeEventListener('abort', end);
    });
  });
};
