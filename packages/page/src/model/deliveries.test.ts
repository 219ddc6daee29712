import { expect, test } from 'vitest';
import { lastDeliveries } from './deliveries.ts';

const delivery = (sink: string, ok: boolean) => ({ sink, ok, detail: null }) as never;

test('each channel appears once, with its last delivery', () => {
  const found = lastDeliveries([delivery('console', false), delivery('slack', true), delivery('console', true)]);
  expect(found).toEqual([delivery('console', true), delivery('slack', true)]);
});
