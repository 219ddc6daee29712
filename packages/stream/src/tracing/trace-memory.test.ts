import { expect, test } from 'vitest';
import { TraceMemory } from './trace-memory.ts';

test('the newest input of a key is remembered, however many others follow; of older chains the last 10,000', () => {
  const memory = new TraceMemory();
  memory.remember('a', 'c-old', 't-old');
  memory.remember('a', 'c-new', 't-new');
  for (let i = 2; i < 10_000; i++) memory.remember('b', `c${i}`, `t${i}`);
  expect(memory.traceOf('a', 'c-old')).toBe('t-old');
  memory.remember('b', 'one more', 't');
  expect(memory.traceOf('a', 'c-old')).toBeUndefined();
  memory.remember('b', 'and one more', 't');
  expect(memory.traceOf('a', 'c-new')).toBe('t-new');
});

test('a key that is forgotten has no newest input; an event of another chain gets no trace of the key', () => {
  const memory = new TraceMemory();
  memory.remember('a', 'c1', 't1');
  expect(memory.traceOf('a', 'c2')).toBeUndefined();
  for (let i = 0; i < 10_000; i++) memory.remember('b', `d${i}`, 't');
  memory.forget('a');
  expect(memory.traceOf('a', 'c1')).toBeUndefined();
});
