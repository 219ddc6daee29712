import { type Draft, Topic } from '@vigil/events';
import type { ReadModel } from '@vigil/read-model';
import { expect, test } from 'vitest';
import { parseCommand } from './command.ts';
import { draftsOf } from './drafts.ts';

const draft = async (body: object, origin = 'applied'): Promise<Draft> => {
  const [one] = await draftsOf(
    parseCommand({ kind: 'apply_policy', by: 'ada', why: 'a test', ...body }),
    { policies: async () => [{ name: 'mine', origin }] } as unknown as ReadModel,
    0,
  );
  return one as Draft;
};
const mine = (signal: string) => ({
  states: { STUCK: [signal] },
  policy: 'mine',
  signals: { self_reported_stuck: {} },
});

test('a policy is applied as canonical JSON under its name; without a document it is taken back', async () => {
  const { topic, key, payload } = await draft({ name: 'mine', document: mine('self_reported_stuck') });
  expect([topic, key]).toEqual([Topic.applyPolicy, 'mine']);
  expect(payload).toEqual({
    name: 'mine',
    document: '{"policy":"mine","signals":{"self_reported_stuck":{}},"states":{"STUCK":["self_reported_stuck"]}}',
    by: 'ada',
    why: 'a test',
  });
  expect((await draft({ name: 'mine', document: null })).payload).toMatchObject({ document: null });
});

test.each([
  ['has', 'mine', 'file'],
  ['does not have', 'another', 'applied'],
])('a policy that the fleet %s, and that was never applied, cannot be taken back', async (_, name, origin) => {
  await expect(draft({ name, document: null }, origin)).rejects.toMatchObject({
    ...{ status: 404, type: 'not_applied', field: 'name' },
    message: expect.stringContaining(`Nothing is applied under the name ${name}`),
  });
});

test('a document with mistakes is not written: all of them are the answer', async () => {
  const bad = draft({ name: 'mine', document: { ...mine('self_reported'), colour: 'red' } });
  await expect(bad).rejects.toMatchObject({ status: 422, field: 'document' });
  await expect(bad).rejects.toThrow(/colour: there is no such key.*states\.STUCK\[0\]: self_reported is not declared/s);
  await expect(draft({ name: 'other', document: mine('self_reported_stuck') })).rejects.toThrow('is not other');
  await expect(draft({ name: 'assign.yaml', document: { rules: [] } })).rejects.toThrow('default: is missing');
});
