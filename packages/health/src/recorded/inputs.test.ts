import { expect, test } from 'vitest';
import { presetsWith } from '../fixture.ts';
import { fedBy, INPUTS, type Input, inputsOfRun, inputsOfSession } from './inputs.ts';
import { readRun } from './run.ts';

const inputsOf = (call: object) =>
  inputsOfRun(readRun(JSON.stringify({ run_id: 'r', calls: [{ tool: 'bash', ...call }] })));
const PLAIN = { args: 'ls', result: 'a', err: false };
const fed = (preset: string, call: object) =>
  fedBy(presetsWith('vigil').all.find(({ name }) => name === preset)!, inputsOf(call));

test.each(['hive', 'gascity'])('a plain record can make nothing STUCK or FAILING under %s', (preset) => {
  expect(fed(preset, PLAIN).canFlag).toBe(false);
});

test.each(['vigil', 'coditect', 'botbox'])('a plain record can be flagged under %s', (preset) => {
  expect(fed(preset, PLAIN).canFlag).toBe(true);
});

test('a finding of two signals needs the inputs of both', () => {
  const work = new Set<Input>(['work', 'times']);
  const gascity = presetsWith('vigil').all.find(({ name }) => name === 'gascity')!;
  expect(fedBy(gascity, work).canFlag).toBe(true);
  expect(fedBy(gascity, new Set<Input>(['work', 'output'])).canFlag).toBe(false);
});

test('only signals that make a state are named, each with what the record lacks', () => {
  expect(fed('omniclaude', PLAIN)).toEqual({
    unfed: [
      { name: 'context_exhausted', missing: ['context'] },
      { name: 'no_calls', missing: ['times'] },
      { name: 'rate_limited', missing: ['error_classes'] },
    ],
    canFlag: false,
  });
});

test('a policy that assumes checkpoints needs none in the record, only times', () => {
  const missing = (preset: string) => fed(preset, PLAIN).unfed.find(({ name }) => name === 'no_checkpoint')?.missing;
  expect(missing('coditect')).toEqual(['times']);
  expect(missing('vigil')).toEqual(['checkpoints', 'times']);
});

test('a record that contains everything feeds every signal of every preset', () => {
  const all = new Set(Object.keys(INPUTS) as Input[]);
  for (const preset of presetsWith('vigil').all) expect(fedBy(preset, all).unfed).toEqual([]);
});

test.each([
  ['nothing', {}, []],
  ['null', { args: null, result: null, err: null, ts: null }, []],
  ['hashes', { args_h: 'x', res_h: 'y' }, ['arguments', 'results']],
  ['a success', { err: false }, ['outcomes']],
  ['a running call', { outcome: 'running' }, ['call_starts']],
  ['a start', { started_at: 5 }, ['call_starts', 'times']],
  ['an end', { ts: 0 }, ['times']],
  [
    'tokens, a target and an error class',
    { token_count: 0, target: 'a', error_class: 'x' },
    ['error_classes', 'targets', 'tokens'],
  ],
])('a call with %s contains that', (_, call, inputs) => {
  expect([...inputsOf(call)].sort()).toEqual(inputs);
});

test('a session contains what its client reports, and times if it has them', () => {
  expect(inputsOfSession([{ token_count: 5 }, { turn: null }], true)).toContain('tokens');
  expect(inputsOfSession([{}, { token_count: null }], true)).not.toContain('tokens');
  expect(inputsOfSession([{}], true)).toContain('times');
  expect(inputsOfSession([{}], false)).not.toContain('times');
});
