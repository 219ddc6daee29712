import { expect, test } from 'vitest';
import { Unwelcome } from '../errors.ts';
import { deadLetterTopic } from '../log/dead-letters.ts';
import type { OutRecord } from '../log/log.ts';
import { dependencies, jsonCodec, type Listening, listening } from '../runner/processors.fixture.ts';
import { Fold } from './fold.ts';
import type { FoldDeps } from './processor-logic.ts';

const codec = jsonCodec();

/** A listener that counts OLD as unwelcome, and ignores LATE. */
const choosy = listening('run', { foreign: ['run.other' as never] });
const { observe, decide } = choosy.decider;
const processor = {
  ...choosy,
  decider: {
    ...choosy.decider,
    observe: ((state, input, clock) => {
      const type: string = input.type;
      if (type === 'OLD') throw new Unwelcome('older', 'no', observe(state, input, clock));
      if (type === 'LATE') throw new Unwelcome('late', 'no');
      return observe(state, input, clock);
    }) as typeof observe,
    decide: ((state, clock, input) => {
      if ((state as Listening).key === 'broken') throw new Error('no');
      return decide(state, clock, input);
    }) as typeof decide,
  },
};

const feeding = (deps: Partial<FoldDeps> = {}) => {
  const fold = new Fold(processor, dependencies(deps));
  let offset = 0;
  const raw = (topic: string, value: string, key: string | null = 'a') =>
    fold.apply({ topic, partition: 0, offset: offset++, key, value: Buffer.from(value), timestamp: 9, headers: {} });
  const receive = (type: string, key = 'a', topic = 'run.in') => raw(topic, JSON.stringify({ type, payload: {} }), key);
  return { fold, raw, receive };
};
const brief = (outs: readonly OutRecord[]) =>
  outs.map(({ topic, value }) => {
    const { type, payload } = codec.decode(topic as never, value as Buffer);
    return topic === deadLetterTopic('run') ? (payload as { failure_reason: string }).failure_reason : type;
  });
const times = (n: number, act: () => unknown) => {
  for (let i = 0; i < n; i++) act();
};

test('an unwelcome record with a state is a dead letter, and the events that follow from its state are emitted', () => {
  const { receive } = feeding();
  receive('HEARTBEAT');
  expect(brief(receive('OLD'))).toEqual(['older', 'RECEIVED']);
  expect(codec.decode('run.out' as never, receive('HEARTBEAT')[0]?.value as Buffer).payload).toMatchObject({ n: 3 });
});

test('an unwelcome record without a state is a dead letter and changes nothing', () => {
  const { receive, fold } = feeding();
  receive('HEARTBEAT');
  const before = fold.logic.store.bytes('a');
  expect(brief(receive('LATE'))).toEqual(['late']);
  expect(fold.logic.store.bytes('a')).toEqual(before);
});

test('if the decision on an unwelcome record’s state throws, one dead letter of an internal error is written, and nothing is stored', () => {
  const { receive, fold } = feeding();
  expect(brief(receive('OLD', 'broken'))).toEqual(['undecided']);
  expect(fold.logic.store.bytes('broken')).toBeNull();
});

test('unwelcome records stop nothing, however many', () => {
  const { receive, fold } = feeding();
  times(100, () => receive('LATE'));
  times(100, () => receive('OLD'));
  expect(fold.limits.exceeded).toBeNull();
});

test('unreadable records on a foreign input never stop the service; on an internal input they do', () => {
  const { raw, fold } = feeding();
  times(50, () => raw('run.other', 'garbage'));
  times(50, () => raw('run.other', '{}', null));
  times(50, () => raw('run.other', '{}', 'no id'));
  expect(fold.limits.exceeded).toBeNull();
  times(20, () => raw('run.in', 'garbage'));
  expect(fold.limits.exceeded).not.toBeNull();
});

test('internal errors on a foreign input stop the service, also with unreadable records in between', () => {
  const { receive, raw, fold } = feeding();
  times(19, () => receive('BOOM', 'a', 'run.other'));
  raw('run.other', 'garbage');
  receive('LATE');
  expect(fold.limits.exceeded).toBeNull();
  receive('BOOM', 'a', 'run.other');
  expect(fold.limits.exceeded).toBe('20 records in a row are dead letters');
});

test('events of a newer version are skipped and counted, with no dead letter, in any number, so an upgrade stops nothing', () => {
  const counted: string[] = [];
  const { raw, receive, fold } = feeding({ count: (...[metric]) => counted.push(metric) });
  receive('HEARTBEAT');
  const before = fold.logic.store.bytes('a');
  times(100, () => expect(raw('run.in', 'newer')).toEqual([]));
  times(100, () => expect(raw('run.other', 'newer')).toEqual([]));
  expect(fold.limits.exceeded).toBeNull();
  expect(fold.logic.store.bytes('a')).toEqual(before);
  expect(counted.filter((metric) => metric === 'newer_events')).toHaveLength(200);
  expect(counted).not.toContain('dead_letters');
});

test('an event of a newer version carries time like any other', () => {
  const { raw, fold } = feeding();
  raw('run.in', 'newer');
  expect(fold.clock.now).toBe(9);
});

test('a mark with an invalid ingress name is skipped, because it would be written with every commit', () => {
  const { raw, fold } = feeding();
  expect(raw('run.in', 'open', `@ingress/${'x'.repeat(129)}`)).toEqual([]);
  expect(fold.clock.ingresses).toEqual({});
});
