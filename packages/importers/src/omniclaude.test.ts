import { expect, test } from 'vitest';
import { mistakesIn, policyOf, preset, unmappedOf } from './importing.fixture.ts';
import { OMNICLAUDE_MD } from './sources.fixture.ts';

const changed = {
  signals: { no_calls: { after: '5m' }, context_exhausted: { above: 0.7 } },
  recovery: { max_attempts: 1 },
};

test('the table of switches gives the preset omniclaude', () => {
  expect(policyOf('omniclaude', OMNICLAUDE_MD)).toEqual(preset('omniclaude'));
  expect(unmappedOf('omniclaude', OMNICLAUDE_MD)).toEqual([]);
});

test('the table as text without its outer pipes is read, up to its end', () => {
  const plain = OMNICLAUDE_MD.replaceAll(/^\| | \|$/gm, '')
    .replace('`2`', '9')
    .replaceAll('`', '');
  expect(policyOf('omniclaude', plain).signals.no_calls.after).toBe('9m');
});

test('the arguments are read; the ones that name an agent are not part of a policy', () => {
  const args =
    '/onex:agent_healthcheck --ticket-id OMN-1 --agent-id a --timeout-minutes 5 --context-threshold-pct=70 --max-redispatches 1';
  expect(policyOf('omniclaude', args)).toMatchObject(changed);
  expect(unmappedOf('omniclaude', args)).toEqual(['ticket_id', 'agent_id']);
});

test('switches as YAML or JSON are read', () => {
  const switches = { stall_timeout_minutes: 5, context_threshold_pct: 70, max_redispatches: 1 };
  expect(policyOf('omniclaude', JSON.stringify(switches))).toMatchObject(changed);
  const yaml =
    'bash_long_timeout_buffer_seconds: 5\nemit_healthcheck_events: false\ndispatch_log_dir: logs/\nmodel: opus\n';
  expect(policyOf('omniclaude', yaml)).toMatchObject({
    signals: { no_calls: { buffer: '5s' } },
    recovery: { emit_healthcheck: false },
    files: { dispatch_log: 'logs/' },
  });
  expect(unmappedOf('omniclaude', yaml)).toEqual(['model']);
});

test('one figure under two names is a mistake if the values differ, and none if they are equal', () => {
  const withBoth = (other: number) => `stall_timeout_minutes: 5\ntimeout_minutes: ${other}\n`;
  expect(mistakesIn('omniclaude', withBoth(7))).toEqual([
    'timeout_minutes: 7, but stall_timeout_minutes is 5: keep one of them',
  ]);
  expect(policyOf('omniclaude', withBoth(5)).signals.no_calls.after).toBe('5m');
  expect(mistakesIn('omniclaude', '--timeout-minutes 5 --timeout-minutes 7')).toEqual([
    'timeout_minutes: 7, but timeout_minutes is 5: keep one of them',
  ]);
});

test('an invalid switch is reported', () => {
  expect(mistakesIn('omniclaude', 'dispatch_log_dir: 7')).toEqual([
    'dispatch_log_dir: 7 is not a folder: write one like "dispatch-log/"',
  ]);
  expect(mistakesIn('omniclaude', '{"context_threshold_pct": 101}')).toEqual([
    'context_threshold_pct: 101 is not a percentage: write one like 80',
  ]);
});
