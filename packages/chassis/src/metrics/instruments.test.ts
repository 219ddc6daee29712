import { metrics as api } from '@opentelemetry/api';
import { afterEach, expect, test } from 'vitest';
import { createCount } from './instruments.ts';

afterEach(() => api.disable());

test('with its first count a processor shows each of its counters from 0, and only then', () => {
  const added: [name: string, value: number, processor: unknown][] = [];
  const counter = (name: string) => ({
    add: (value: number, { processor }: { readonly processor?: string }) => added.push([name, value, processor]),
  });
  const meter = { createCounter: counter, createHistogram: () => ({ record: () => {} }) };
  api.setGlobalMeterProvider({ getMeter: () => meter } as never);
  const count = createCount();
  expect(added).toEqual([]);
  count('records_read', 3, { processor: 'recovery' });
  expect(added).toContainEqual(['vigil_dead_letters', 0, 'recovery']);
  expect(added).toContainEqual(['vigil_newer_events', 0, 'recovery']);
  expect(added.at(-1)).toEqual(['vigil_records_read', 3, 'recovery']);
  const before = added.length;
  count('dead_letters', 1, { processor: 'recovery' });
  expect(added.slice(before)).toEqual([['vigil_dead_letters', 1, 'recovery']]);
});
