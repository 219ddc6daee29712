import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type Remark, readHeartbeat } from '@vigil/events';
import { expect, test } from 'vitest';

const readme = readFileSync(path.resolve(import.meta.dirname, '../README.md'), 'utf8');
/** The commands of the examples, as the shell expands them. */
const sent = (line: string, last: string): unknown => {
  const json = line.replace("'$(date -u +%FT%TZ)'", '2026-11-23T12:00:00Z').replace("'$1'", '1').replace("'$2'", last);
  return JSON.parse(json.slice(json.indexOf('{"agent_id"'), json.lastIndexOf('}') + 1));
};
const examples = readme.split('\n').filter((line) => line.includes('{"agent_id"'));
const exit = /^heartbeat \d '(.+)'$/m.exec(readme)?.[1] ?? '';

test('the README has an example for HTTP and one for Kafka', () => {
  expect(examples).toHaveLength(2);
  expect(exit).not.toBe('');
});

test.each(examples)('the heartbeat %s is accepted without a warning, has a task and reports no tokens', (line) => {
  for (const last of ['', exit]) {
    const remarks: Remark[] = [];
    const heartbeat = readHeartbeat(sent(line, last), remarks);
    expect(remarks).toEqual([]);
    expect(heartbeat).toMatchObject({ task_id: expect.any(String), token_count: null, policy: 'vigil' });
  }
});

test('the last heartbeat of the HTTP example ends its agent', () => {
  const line = examples.find((one) => one.includes("'$2'")) ?? '';
  expect(readHeartbeat(sent(line, exit), [])).toMatchObject({
    runtime_id: null,
    reporter: 'agent',
    exit: { reason: 'finished' },
  });
});
