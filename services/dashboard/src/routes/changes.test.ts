import { expect, test } from 'vitest';
import { dashboard } from '../app.fixture.ts';

const opened = async () => {
  const one = dashboard();
  const answer = one.app.inject({ url: '/v1/changes', headers: { authorization: 'Bearer viewer' } });
  while (one.changeListeners.size === 0) await new Promise(setImmediate);
  const change = (changes: Parameters<Parameters<typeof listen>[0]>[0]) => {
    for (const listener of one.changeListeners) listener(changes);
  };
  return { ...one, answer, change };
};
declare const listen: (listener: (changes: readonly (readonly [string, string])[] | null) => void) => void;

/** Until everything that was collected has been sent. */
const sent = () => new Promise((resolve) => setTimeout(resolve, 500));

test('a reader first receives that everything may have changed, then each changed row once', async () => {
  const { answer, change, stop, changeListeners } = await opened();
  change([
    ['agents', 'a1'],
    ['cases', 'c1'],
  ]);
  change([['agents', 'a1']]);
  await sent();
  stop.abort();
  const { headers, body } = await answer;
  expect(headers['content-type']).toBe('text/event-stream');
  expect(body).toBe('event: reset\ndata: {}\n\nevent: changes\ndata: [["agents","a1"],["cases","c1"]]\n\n');
  expect(changeListeners.size).toBe(0);
});

test('a reader receives when changes may be missing', async () => {
  const { answer, change, stop } = await opened();
  change(null);
  await sent();
  stop.abort();
  expect((await answer).body).toBe('event: reset\ndata: {}\n\n'.repeat(2));
});
