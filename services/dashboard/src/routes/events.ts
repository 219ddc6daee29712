import { type HealthEvent, Topic, type TopicName } from '@vigil/events';
import type { LogRecord } from '@vigil/stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { type Feed, publishedTopics, WITHOUT_OBSERVATIONS } from '../feed.ts';
import { Problem } from '../problem.ts';
import * as queries from './queries.ts';
import { queryOf } from './read.ts';
import { type Backlog, Positions, readBacklog } from './resume.ts';
import type { Stream, Streams } from './streams.ts';

type Filter = z.output<typeof queries.events>;

const SHORT: Readonly<Record<string, string>> = Topic;
const KNOWN = new Set<string>(Object.values(Topic));
const PUBLISHED = new Set<string>(publishedTopics);
const publishedNames = Object.entries(Topic).flatMap(([name, topic]) => (PUBLISHED.has(topic) ? [name] : []));

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

/** Throws Problem 400. */
const filterOf = (query: unknown): Filter => {
  const filter = queryOf(queries.events, query);
  const { topic } = filter;
  if (topic !== undefined && !KNOWN.has(SHORT[topic] ?? topic))
    throw new Problem(
      400,
      'unknown_topic',
      `topic ${JSON.stringify(topic)} does not exist; use one of ${Object.keys(Topic).join(', ')}`,
      'topic',
    );
  if (topic !== undefined && (SHORT[topic] ?? topic) === Topic.agentTerminal)
    throw new Problem(
      403,
      'not_permitted',
      'Terminals are for operators: use /v1/agents/{id}/terminal, which publishes that of one agent while it is open.',
      'topic',
    );
  if (topic !== undefined && !PUBLISHED.has(SHORT[topic] ?? topic))
    throw new Problem(
      403,
      'not_permitted',
      `topic ${JSON.stringify(topic)} is not published, to any role: use one of ${publishedNames.join(', ')}`,
      'topic',
    );
  return filter;
};

const topicsOf = ({ topic, heartbeats }: Filter): readonly TopicName[] => {
  if (topic !== undefined) return [(SHORT[topic] ?? topic) as TopicName];
  return heartbeats === 'true' ? publishedTopics : WITHOUT_OBSERVATIONS;
};

export type EventDeps = {
  readonly feed: Feed;
  readonly log: Backlog;
  readonly streams: Streams;
  readonly onFailure: (error: unknown) => void;
};

/** More records than this are read again before live events are collected. */
const SMALL_BACKLOG = 1000;
/** A reader learns its position this often also without an event, milliseconds. */
const POSITION_MS = 15_000;

/** Live events, as lines of JSON from now on, or as server-sent events, which resume by Last-Event-ID. They end when the caller leaves or its token is revoked or expires. */
export const eventRoutes = (app: FastifyInstance, { feed, log, streams, onFailure }: EventDeps): void => {
  const follow = async (filter: Filter, lastId: string | undefined, stream: Stream): Promise<void> => {
    const { ended } = stream;
    const topics = topicsOf(filter);
    const resumed = lastId === undefined ? null : Positions.parse(lastId, topics);
    let positions = resumed;
    const textOf = (event: HealthEvent) => `id: ${positions?.text}\ndata: ${JSON.stringify(event)}\n\n`;
    const sendSlowly = async (event: HealthEvent) => {
      if (isRequested(event, filter)) await stream.writeSlowly(textOf(event));
    };
    if (resumed !== null)
      while (!ended.aborted && (await readBacklog(log, topics, resumed, sendSlowly, ended)) > SMALL_BACKLOG);

    const send = (event: HealthEvent, record: LogRecord): void => {
      if (positions?.take(record) && isRequested(event, filter)) stream.write(textOf(event));
    };
    if (ended.aborted) return;
    let waiting: [HealthEvent, LogRecord][] | null = [];
    const onEvent = (event: HealthEvent, record: LogRecord) => {
      if (waiting === null) send(event, record);
      else waiting.push([event, record]);
    };
    const { stop, begun } = feed.listen(onEvent, topics.includes(Topic.agentObservation));
    ended.addEventListener('abort', stop);
    await begun;
    if (resumed === null) positions = await Positions.now(log, topics);
    else await readBacklog(log, topics, resumed, sendSlowly, ended);
    for (const [event, record] of waiting) send(event, record);
    waiting = null;
    if (ended.aborted) return;
    const showPosition = () => stream.write(`id: ${positions?.text}\n\n`);
    showPosition();
    const showing = setInterval(showPosition, POSITION_MS);
    ended.addEventListener('abort', () => clearInterval(showing));
  };

  app.get('/v1/events', (request, reply) => {
    const filter = filterOf(request.query);
    if (!request.headers.accept?.includes('text/event-stream')) {
      const stream = streams.open(request, reply, 'application/x-ndjson');
      const onEvent = (event: HealthEvent) => isRequested(event, filter) && stream.write(`${JSON.stringify(event)}\n`);
      const { stop } = feed.listen(onEvent, topicsOf(filter).includes(Topic.agentObservation));
      stream.ended.addEventListener('abort', stop);
      return;
    }
    const lastId = lastEventId(request);
    // Its problem is answered before the stream begins.
    if (lastId !== undefined) Positions.parse(lastId, topicsOf(filter));
    const stream = streams.open(request, reply, 'text/event-stream');
    follow(filter, lastId, stream).catch((error: unknown) => {
      if (!stream.ended.aborted) onFailure(error);
      stream.end();
    });
  });
};

const lastEventId = ({ headers }: FastifyRequest): string | undefined => {
  const id = headers['last-event-id'];
  return typeof id === 'string' && id !== '' ? id : undefined;
};
