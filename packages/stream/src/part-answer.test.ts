import { expect, test } from 'vitest';
import { noAnswerText, notReadyText } from './part-answer.ts';

test('a service that is not ready names the parts that are not, without JSON', () => {
  const body = JSON.stringify({ ready: false, parts: { api: false, reader: true, tail: false } });
  expect(notReadyText(503, body)).toBe('not ready: not connected or not caught up (api, tail)');
});

test('a service that starts or stops is not ready for that reason', () => {
  expect(notReadyText(503, '{"ready":false,"because":"starting"}')).toBe('not ready: it is starting');
  expect(notReadyText(503, '{"ready":false,"because":"stopping"}')).toBe('not ready: it is stopping');
});

test('another answer is shown with its status', () => {
  expect(notReadyText(503, 'restoring\n')).toBe('not ready: status 503: restoring');
  expect(notReadyText(502, '')).toBe('not ready: status 502');
  expect(notReadyText(502, 'null')).toBe('not ready: status 502: null');
  expect(notReadyText(503, 'x'.repeat(900))).toHaveLength('not ready: status 503: '.length + 200);
});

test('a part without an answer in time is described by the limit, never by a number', () => {
  const late = new DOMException('The operation was aborted due to timeout', 'TimeoutError');
  expect(late.code).toBe(23);
  expect(noAnswerText(late, 2000)).toMatch(/^does not answer within 2 s: it is frozen or overloaded/);
});

test('a refused connection keeps its code', () => {
  const refused = new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } });
  expect(noAnswerText(refused, 2000)).toBe('does not answer (ECONNREFUSED): is it running?');
  expect(noAnswerText(Object.assign(new Error('no'), { code: 'ENOTFOUND' }), 2000)).toContain('(ENOTFOUND)');
  expect(noAnswerText(new Error('it is not Postgres'), 2000)).toContain('(it is not Postgres)');
});
