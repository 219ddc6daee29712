import { type HealthEvent, Topic } from '@vigil/events';
import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import type { Feed } from '../feed.ts';
import { Problem } from '../problem.ts';
import * as queries from './queries.ts';
import { queryOf } from './read.ts';
import type { Streams } from './streams.ts';

type Filter = z.output<typeof queries.events>;

const SHORT: Readonly<Record<string, string>> = Topic;
const KNOWN = new Set<string>(Object.values(Topic));

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

/** Live events as lines of JSON (application/x-ndjson), from now on until the caller goes or its token is revoked or expires. */
export const eventRoutes = (app: FastifyInstance, feed: Feed, streams: Streams): void => {
  app.get('/v1/events', (request, reply) => {
    const filter = queryOf(queries.events, request.query);
    const { topic } = filter;
    if (topic !== undefined && !KNOWN.has(SHORT[topic] ?? topic))
      throw new Problem(400, 'unknown_topic', `There is no topic ${topic}: ${Object.keys(Topic).join(', ')}.`, 'topic');
    const observations = filter.heartbeats === 'true' || (SHORT[topic ?? ''] ?? topic) === Topic.agentObservation;
    const stream = streams.open(request, reply, 'application/x-ndjson');
    const onEvent = (event: HealthEvent) => isRequested(event, filter) && stream.write(`${JSON.stringify(event)}\n`);
    stream.ended.addEventListener('abort', feed.listen(onEvent, observations));
  });
};
