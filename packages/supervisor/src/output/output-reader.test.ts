import { expect, test } from 'vitest';
import { OutputReader, STILL_AFTER_MS } from './output-reader.ts';
import { compilePatterns, defaultPatterns, errorHash } from './patterns.ts';

const screen = () => new OutputReader(compilePatterns(defaultPatterns), 1000, 3);
const kinds = (line: string) =>
  compilePatterns(defaultPatterns)
    .matches(line)
    .map(({ kind }) => kind);

test.each([
  'Rate limit reached',
  'rate_limit_error',
  'HTTP 429',
  'status: 429',
  '429 Too Many Requests',
  'overloaded_error',
])('%j is a rate limit', (line) => expect(kinds(line)).toContain('rate_limit'));
test.each(['line 429 of main.c', 'took 429 ms', 'a moderate limit', 'the corporate limits', 'error 4290'])(
  '%j does not match',
  (line) => expect(kinds(line)).not.toContain('rate_limit'),
);

test('the last lines are kept, without colours, and with what a carriage return has left of them', () => {
  const one = screen();
  one.write('first\r\n\u001b[31mred\u001b[0m\r\n10%\r50%\r100%\r\n\r\nlast', 5);
  expect(one.tail.map(({ text }) => text)).toEqual(['red', '100%', 'last']);
  expect(one.memory.lines).toBe(4);
});

test('a match has the number of its line, also where a policy looks for it later', () => {
  const one = screen();
  one.write('first\nsecond\n', 1);
  const { matched } = one.write('HTTP 429\nlater\nfatal: gone\n', 2);
  expect(matched).toContainEqual(expect.objectContaining({ kind: 'rate_limit', line: 3 }));
  const patterns = compilePatterns({ ...defaultPatterns, error: ['gone'] });
  expect(one.usePatterns(patterns, 0)).toMatchObject([{ kind: 'error', source: 'gone', line: 5 }]);
});

test('a sequence that comes in two pieces is not text', () => {
  const one = screen();
  one.write('a\u001b[3', 1);
  one.write('1mb\n', 2);
  expect(one.tail).toEqual([{ at: 2, text: 'ab' }]);
});

test('a question is one as soon as the cursor has stood still behind it, and no sooner', () => {
  const one = screen();
  one.write('Delete it? ', 1000);
  expect(one.asksSince(1000 + STILL_AFTER_MS - 1)).toBeNull();
  expect(one.asksSince(1000 + STILL_AFTER_MS)).toBe(1000);
});

test('a terminal that has shown nothing stands still five minutes after its agent was started, any other at once', () => {
  const one = screen();
  expect([one.isStill(1000 + 299_999), one.isStill(1000 + 300_000)]).toEqual([false, true]);
  one.write('ready\n', 2000);
  expect([one.isStill(2000 + STILL_AFTER_MS - 1), one.isStill(2000 + STILL_AFTER_MS)]).toEqual([false, true]);
});

test('a question that was answered, or is in an earlier line, asks nothing', () => {
  const one = screen();
  one.write('Delete it? ', 1000);
  one.write('y\r\n', 2000);
  expect(one.asksSince(9000)).toBeNull();
  one.write('Why? \n', 3000);
  expect(one.asksSince(9000)).toBeNull();
});

test("the echo of Vigil's own text does not count as output, in any number of pieces", () => {
  const one = screen();
  one.typing('hello there\r');
  expect(one.write('hello ', 1).fresh).toBe(false);
  expect(one.write('there\r\nanswer\r\n', 2).fresh).toBe(true);
  expect(one.tail).toEqual([{ at: 2, text: 'answer' }]);
});

test('output that only begins as our text does is output', () => {
  const one = screen();
  one.typing('hello\r');
  expect(one.write('help\r\n', 1).fresh).toBe(true);
  expect(one.write('hello\r\n', 2).fresh).toBe(true);
});

test('the same error raises its count, another starts from one, and figures make no difference', () => {
  const one = screen();
  one.write('error: took 12 ms\nok\nerror: took 15 ms\n', 10);
  expect(one.memory.repeated).toEqual({ hash: errorHash('error: took 7 ms'), count: 2, first_at: 10 });
  one.write('error: no such file\n', 20);
  expect(one.memory.repeated).toMatchObject({ count: 1, first_at: 20 });
});

test('a pattern that is not RE2 is refused by name', () => {
  expect(() => compilePatterns({ ...defaultPatterns, fatal: ['(?=x)'] })).toThrow(/fatal pattern "\(\?=x\)"/);
});

test('a line of carriage returns costs no more than any other: ten million are read as fast as they come', () => {
  const one = screen();
  one.write(`${'\r'.repeat(10_000_000)}x\r\r\n`, 1);
  expect(one.tail).toEqual([{ at: 1, text: 'x' }]);
});
