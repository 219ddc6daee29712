import {
  act,
  HOLD,
  heartbeatStep,
  is,
  LOOK,
  outside,
  type PeerCase,
  replay,
  type Step,
  type Suite,
  times,
} from './peer.ts';

const NO = is('HEALTHY');
const LOOP = is('STUCK');
const one = (value: string, tool = 'testTool'): Step => act({ tool, args: { param: value } });
const same = (n: number): Step[] => times(n, () => one('value'));
const cycle = (length: number, n: number): Step[] => times(n, (i) => one(`${i % length}`));
const POLICY = (more: string) => `policy: gemini-cli
${more}signals:
  loop: { is: repeated_calls, times: 5, cycles: 5, max_cycle: 5 }
states:
  STUCK: [loop]
`;

const TEXT = 'a model’s text as it streams: no content of an agent is read, hashes of calls are';
const MODEL = 'when a model is called, and its answer: the evaluator calls no model';
const texts = (n: number) => outside(TEXT, ...Array.from({ length: n }, (_, i) => `text ${i + 1}`));
const models = (n: number) => outside(MODEL, ...Array.from({ length: n }, (_, i) => `model ${i + 1}`));

const cases: readonly PeerCase[] = [
  replay('four times', same(4), [NO]),
  replay('five times', same(5), [{ ...LOOP, contains: '5 times' }]),
  replay('six times', [...same(5), LOOK, ...same(1)], [LOOP, LOOP]),
  replay(
    'three tools in turn, three times',
    times(3, () => [one('1'), one('2'), one('1', 'other')]),
    [NO],
  ),
  replay('a thought between', [...same(4), heartbeatStep({}), LOOK, ...same(1)], [NO, LOOP]),
  replay('switched off for a session', [heartbeatStep({}), HOLD, ...same(5)], [NO]),
  replay('switched off when it has been found', [...same(5), LOOK, HOLD, ...same(1)], [LOOP, NO]),
  replay('switched off by configuration', same(7), [NO], { policy: POLICY('exclude: [a1]\n') }),
  replay('two in turn, fifteen calls', cycle(2, 15), [LOOP]),
  replay('three in turn, twenty calls', cycle(3, 20), [LOOP]),
  replay('five in turn, thirty calls', cycle(5, 30), [LOOP]),
  replay('two in turn, twice, another, and twice again', [...cycle(2, 4), one('c'), ...cycle(2, 4)], [NO]),
  replay('again after it was cleared', [...same(6), LOOK, ...same(1)], [LOOP, LOOP]),
  replay('other words after it was cleared', [...same(6), LOOK, heartbeatStep({})], [LOOP, NO], {
    differs: 'no command clears a finding: it ends with a new result of a call',
  }),
  replay('values that are not calls', [heartbeatStep({}), LOOK, heartbeatStep({})], [NO, NO]),
  ...texts(29),
  ...models(13),
];

export const geminiCli: Suite = {
  name: 'gemini-cli',
  source: 'google-gemini/gemini-cli `packages/core/src/services/loopDetectionService.test.ts` at 5411f113, Apache-2.0',
  policy: POLICY(''),
  read: ['A loop is STUCK. Switched off for a session is a hold by a person.'],
  cases,
};
