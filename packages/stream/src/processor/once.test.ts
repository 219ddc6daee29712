import { UnknownSchemaId } from '@vigil/events';
import { expect, test } from 'vitest';
import { dependencies, echoing, jsonCodec } from '../runner/processors.fixture.ts';
import { emitted, feeding } from './fold.fixture.ts';
import type { AnyMapper } from './topology.ts';

const AGAIN_MS = 10_000;

/** An input of a key is written once for each content. */
const once: AnyMapper['once'] = {
  of: ({ key, payload }) => {
    const { content } = (payload as object as { readonly echoed: { readonly content?: string } }).echoed;
    return content === undefined ? null : { subject: key, content };
  },
  againAfterMs: AGAIN_MS,
  most: 2,
};
const mapping = (deps = dependencies()) => {
  const one = feeding(echoing('run', { once }), deps);
  const give = (at: number, key: string, content?: string) =>
    emitted(one.heartbeat(at, key, content === undefined ? {} : { payload: { content } })).map(
      ({ payload }) => (payload as { readonly echoed: { readonly content?: string } }).echoed.content,
    );
  one.tick(0);
  return { ...one, give };
};

test('an output that repeats the last one of its subject is written once; a changed one is written', () => {
  const { give } = mapping();
  expect([give(1, 'a', 'x'), give(2, 'a', 'x'), give(3, 'a', 'y'), give(4, 'a', 'x')].flat()).toEqual(['x', 'y', 'x']);
  expect([give(5, 'b', 'x'), give(6, 'b', 'x')].flat()).toEqual(['x']);
});

test('an output without a subject is always written', () => {
  const { give } = mapping();
  expect([give(1, 'a'), give(2, 'a')]).toEqual([[undefined], [undefined]]);
});

test('it is written again when its time is over, counted from the last one that was written', () => {
  const { give } = mapping();
  const times = [1000, 1000 + AGAIN_MS - 1, 1000 + AGAIN_MS, 1000 + 2 * AGAIN_MS - 1, 1000 + 2 * AGAIN_MS];
  expect(times.map((at) => give(at, 'a', 'x').length)).toEqual([1, 0, 1, 0, 1]);
});

test('the least recent subject is forgotten, and its next output is written', () => {
  const { give } = mapping();
  for (const key of ['a', 'b', 'a', 'c']) give(1, key, 'x');
  expect(['a', 'c', 'b'].map((key) => give(2, key, 'x').length)).toEqual([0, 0, 1]);
});

test('an output that could not be written does not count as written', () => {
  let isAway = true;
  const codec = jsonCodec();
  const encode: typeof codec.encode = (event) => {
    if (isAway) throw new UnknownSchemaId(1);
    return codec.encode(event);
  };
  const { give } = mapping(dependencies({ codec: { ...codec, encode } }));
  expect(() => give(1, 'a', 'x')).toThrow(UnknownSchemaId);
  isAway = false;
  expect(give(2, 'a', 'x')).toEqual(['x']);
});

test('another task of the partition remembers nothing, so an aborted output is written by the next task', () => {
  expect([mapping().give(1, 'a', 'x'), mapping().give(1, 'a', 'x')]).toEqual([['x'], ['x']]);
});
