import { afterEach, expect, test, vi } from 'vitest';
import { pastMoment } from './client.ts';

afterEach(() => void vi.restoreAllMocks());

const refusing = (type: string, times: number) => {
  let asked = 0;
  const request = async () => {
    asked += 1;
    if (asked <= times) throw Object.assign(new Error(type), { type });
    return 'served';
  };
  return { request, asked: () => asked };
};

test('a request that a broker refuses temporarily is retried until it succeeds', async () => {
  const { request, asked } = refusing('NOT_LEADER_FOR_PARTITION', 3);
  expect(await pastMoment(request)).toBe('served');
  expect(asked()).toBe(4);
});

test('a request that is refused for more than ten seconds fails with the broker’s error', async () => {
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => {
    now += 5001;
    return now;
  });
  const { request, asked } = refusing('UNKNOWN_TOPIC_OR_PARTITION', 99);
  await expect(pastMoment(request)).rejects.toThrow('UNKNOWN_TOPIC_OR_PARTITION');
  expect(asked()).toBe(2);
});

test('any other refusal fails at once', async () => {
  const { request, asked } = refusing('TOPIC_AUTHORIZATION_FAILED', 1);
  await expect(pastMoment(request)).rejects.toThrow('TOPIC_AUTHORIZATION_FAILED');
  expect(asked()).toBe(1);
});
