import { expect, test } from 'vitest';
import type { SpoolRecord } from '../spool/spool.ts';
import { ended, failed, recordOf, started } from '../testing.ts';
import { type Fold, foldRecord, newFold } from './fold.ts';

const allowed = (): null => null;
const folded = (records: readonly SpoolRecord[], fold: Fold = newFold): Fold =>
  records.reduce((so, record) => foldRecord(so, record, allowed).fold, fold);
const failures = (times: number, at = 0) =>
  Array.from({ length: times }, (_, n) => [
    recordOf([started(`${at}-${n}`, at)]),
    recordOf([failed(`${at}-${n}`, at)]),
  ]).flat();
const refusalAt = (fold: Fold, at: number) => foldRecord(fold, recordOf([started('next', at)]), allowed).refusal;

test('the fifth failure in a row refuses the next call, not the fourth; after the pause one trial is made', () => {
  expect(refusalAt(folded(failures(4)), 0)).toBeNull();
  const open = folded(failures(5));
  expect(refusalAt(open, 0)).toContain('the circuit breaker tool_execution is open after 5 failed calls in a row');
  expect(refusalAt(open, 29_999)).not.toBeNull();
  expect(refusalAt(open, 30_000)).toBeNull();
});

test('a refused call is reported as refused, does not count as a failure, and is not open', () => {
  const open = folded(failures(5));
  const { fold, reports } = foldRecord(open, recordOf([started('next', 1)]), allowed);
  expect(reports).toMatchObject([{ agent: null, fields: { tool_calls: [{ call_id: 'next', outcome: 'refused' }] } }]);
  expect(fold.session.main.open).toEqual({});
  expect(fold.breakers.breakers.tool_execution.failures).toBe(5);
});

test('a limit refuses before a breaker, with its own reason', () => {
  const { refusal, reports } = foldRecord(newFold, recordOf([started('a')]), ({ tool }) => `no more ${tool}`);
  expect(refusal).toBe('no more Edit');
  expect(reports[0]?.fields.tool_calls).toMatchObject([{ call_id: 'a', outcome: 'refused' }]);
});

test('a hook whose answer cannot refuse refuses nothing', () => {
  const late = recordOf([started('a')], { canRefuse: false });
  expect(foldRecord(folded(failures(5)), late, () => 'no').refusal).toBeNull();
});

test('a trial that was never made is dropped when the turn has ended', () => {
  const trial = folded([recordOf([started('trial', 30_000)])], folded(failures(5)));
  expect(refusalAt(trial, 30_001)).not.toBeNull();
  const over = folded([recordOf([{ kind: 'turn_ended', wakes: false, at: 30_001, agent: null }])], trial);
  expect(refusalAt(over, 30_002)).toBeNull();
});

test('a record with several events is one report for each agent, each call as it is after the last', () => {
  const { reports } = foldRecord(newFold, recordOf([started('a', 1), ended('a', 2), started('b', 3, 'sub')]), allowed);
  expect(reports.map(({ agent }) => agent)).toEqual([null, 'sub']);
  expect(reports[0]?.fields.tool_calls).toMatchObject([
    { call_id: 'a', outcome: 'ok', started_at: 1 },
    { call_id: 'b' },
  ]);
  expect(reports[1]?.fields.tool_calls).toMatchObject([{ call_id: 'b', outcome: 'running' }]);
});
