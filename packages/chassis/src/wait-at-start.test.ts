import { Fatal, Refused } from '@vigil/stream';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { WAIT_LIMIT_MS, waitAtStart } from './wait-at-start.ts';

const lines: string[] = [];
const line = (_: unknown, text?: string): void => void lines.push(text ?? '');
const logger = { debug: line, info: line, warn: line, error: line };
const signal = new AbortController().signal;

/** A server that is away for so many asks. */
const awayFor = (asks: number) => {
  let asked = 0;
  const open = async (): Promise<string> => {
    asked += 1;
    if (asked <= asks) throw new Fatal('nothing answers');
    return `opened at ask ${asked}`;
  };
  return { open, asked: () => asked };
};

beforeEach(() => {
  lines.length = 0;
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('a service waits at its start for a server that is away, with one line of log before and one after', async () => {
  const { open } = awayFor(3);
  const opened = waitAtStart('Kafka', open, { logger, signal });
  await vi.advanceTimersByTimeAsync(3000);
  expect(await opened).toBe('opened at ask 4');
  expect(lines).toEqual(['Kafka is away; the start waits up to 60 s for it', 'Kafka answers; the start continues']);
});

test('a server that stays away for a minute ends the start with its last error', async () => {
  const { open, asked } = awayFor(Number.POSITIVE_INFINITY);
  const opened = waitAtStart('Kafka', open, { logger, signal }).catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(WAIT_LIMIT_MS);
  expect(await opened).toMatchObject({ name: 'Fatal', exitCode: 1 });
  expect(asked()).toBe(1 + WAIT_LIMIT_MS / 1000);
});

test('what waiting cannot repair is refused at the first ask, without a line of log', async () => {
  let asked = 0;
  const open = async (): Promise<never> => {
    asked += 1;
    throw new Refused('the password is wrong');
  };
  await expect(waitAtStart('Kafka', open, { logger, signal })).rejects.toThrow('the password is wrong');
  expect([asked, lines]).toEqual([1, []]);
});

test('a service that is to stop does not wait any longer', async () => {
  const stop = new AbortController();
  const opened = waitAtStart('Kafka', awayFor(9).open, { logger, signal: stop.signal }).catch((error) => error);
  await vi.advanceTimersByTimeAsync(1500);
  stop.abort();
  expect(await opened).toMatchObject({ name: 'Fatal' });
});
