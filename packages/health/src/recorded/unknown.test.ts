import { hashes } from '@vigil/sdk/hashes';
import { expect, test } from 'vitest';
import { policyOf } from '../fixture.ts';
import { runJudge } from './judge.ts';
import { judged, other, same, stuck } from './recorded.fixture.ts';
import { readRun } from './run.ts';

test('recorded hashes take precedence over hashes of a cut result', () => {
  const hashed = (res_h: string) => ({ ...same, args_h: 'x', res_h, resn_h: 'm' });
  expect(judged([hashed('1'), hashed('2'), hashed('3')]).worst).toBe('HEALTHY');
  expect(judged([1, 2, 3].map((n) => ({ ...other(n), args_h: 'x', res_h: 'y', resn_h: 'm' }))).worst).toBe('STUCK');
});

test('a call without a recorded result equals no other', () => {
  expect(judged([1, 2, 3, 4].map(() => ({ tool: 'bash', args: 'ls', result: null }))).worst).toBe('HEALTHY');
  expect(judged([1, 2, 3, 4].map(() => ({ tool: 'bash', args: 'ls', result: '' }))).worst).toBe('STUCK');
});

test.each([
  ['neither arguments nor result', { tool: 'bash' }],
  ['no result', { tool: 'bash', args: 'ls' }],
  ['no arguments', { tool: 'bash', result: 'a' }],
  ['null for arguments', { tool: 'bash', args: null, result: 'a' }],
  ['null for a result', { tool: 'bash', args: 'ls', result: null }],
  ['only the hash of its arguments', { tool: 'bash', args_h: 'x' }],
  ['only the hash of its result', { tool: 'bash', res_h: 'y', resn_h: 'z' }],
])('a call with %s equals no other, however often it is repeated', (_, call) => {
  expect(judged(Array.from({ length: 12 }, () => call))).toEqual({ worst: 'HEALTHY', changes: [] });
});

test.each([
  ['empty texts', '', ''],
  ['false and zero', false, 0],
  ['an empty object and an empty list', {}, []],
  ['null within', { of: null }, [null]],
])('calls whose arguments and result are %s are known, and the third is a loop', (_, args, result) => {
  const call = { tool: 'bash', args, result };
  expect(judged([call, call]).worst).toBe('HEALTHY');
  expect(judged([call, call, call]).changes).toEqual([stuck(3, 10, 'looping')]);
});

test('failures without a recorded class or result are not the same error; with either they are', () => {
  const strict = policyOf(`
policy: errors
signals: { again: { is: repeated_error, times: 5, within: 10m } }
states: { STUCK: [again] }
`).all[0]!;
  const worst = (more: object) => {
    const calls = Array.from({ length: 5 }, (_, i) => ({ tool: 'a', args: i, err: true, ...more }));
    return runJudge(strict, hashes, 5_000)(readRun(JSON.stringify({ run_id: 'r', calls }))).worst;
  };
  expect(worst({})).toBe('HEALTHY');
  expect(worst({ result: null })).toBe('HEALTHY');
  expect(worst({ result: 'no such file' })).toBe('STUCK');
});

test('unknown fields are ignored, and null is unknown', () => {
  const call = { tool: 'bash', i: 0, ts: null, err: null, mutating: null, outcome: null, kind: null, extra: {} };
  expect(judged([call, call]).worst).toBe('HEALTHY');
});
