import type { Kafka } from 'kafkajs';
import { expect, test } from 'vitest';
import type { Member } from '../log/log.ts';
import { silentLogger } from '../logger.ts';
import { join } from './membership.ts';

const events = {
  GROUP_JOIN: 'join',
  STOP: 'stop',
  HEARTBEAT: 'heartbeat',
  CRASH: 'crash',
  END_BATCH_PROCESS: 'end',
} as const;

/** A client that, like kafkajs, refuses to pause, resume or seek between a stop and the next join. */
const client = () => {
  const listeners = new Map<string, (event: object) => void>();
  const done: string[] = [];
  let joined = false;
  const inGroup = (what: string) => () => {
    if (!joined) throw new Error('Consumer group was not initialized, consumer#run must be called first');
    done.push(what);
  };
  const joins = () => {
    joined = true;
    listeners.get(events.GROUP_JOIN)?.({ payload: { memberAssignment: { t: [0] } } });
  };
  const stops = () => {
    joined = false;
    listeners.get(events.STOP)?.({});
  };
  const consumer = () => ({
    events,
    on: (event: string, listener: (event: object) => void) => void listeners.set(event, listener),
    connect: async () => {},
    subscribe: async () => {},
    run: async () => joins(),
    seek: inGroup('seek'),
    pause: inGroup('pause'),
    resume: inGroup('resume'),
  });
  return { kafka: { consumer } as unknown as Kafka, done, joins, stops };
};

const member: Member = {
  group: 'g',
  topics: ['t'],
  paceMs: 100,
  held: () => [],
  take: async () => true,
  onAssigned: () => {},
  onSkipped: () => {},
  onHeartbeat: () => {},
  onLost: () => {},
};

test('a member that restarts has no partitions: pause, seek and resume do nothing until it has rejoined', async () => {
  const { kafka, done, joins, stops } = client();
  const membership = await join(kafka, member, 10_000, silentLogger);
  membership.pause(0);
  stops();
  membership.seek('t', 0, 5);
  membership.resume(0);
  membership.pause(0);
  expect(done).toEqual(['pause']);
  joins();
  membership.seek('t', 0, 5);
  membership.resume(0);
  expect(done).toEqual(['pause', 'seek', 'resume']);
});
