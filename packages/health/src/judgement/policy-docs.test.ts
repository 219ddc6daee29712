import { readFileSync } from 'node:fs';
import path from 'node:path';
import { loadPolicy, parseYaml, readAssignment, unknownIn } from '@vigil/policy';
import { expect, test } from 'vitest';
import { VOCABULARY } from '../vocabulary.ts';

const page = readFileSync(path.resolve(import.meta.dirname, '../../../../docs/policies.md'), 'utf8');
const examples = [...page.matchAll(/```yaml\n(.*?)```/gs)].map(([, text = '']) => text);

test('the examples of the page on policies have no mistakes and no warnings', () => {
  const [policy = '', assignment = '', spending = '', requests = ''] = examples;
  expect(examples).toHaveLength(4);
  const limited = loadPolicy(`policy: p\nsignals: {}\nstates: {}\n${spending}`, 'policies.md', VOCABULARY);
  expect(limited.spending?.task).toEqual({ tokens: 20_000_000, usd: 40 });
  expect(() => loadPolicy(`policy: p\nsignals: {}\nstates: {}\n${requests}`, 'policies.md', VOCABULARY)).not.toThrow();
  expect(loadPolicy(policy, 'policies.md', VOCABULARY).warnings).toEqual([]);
  const read = readAssignment(parseYaml(assignment, 'policies.md'), 'policies.md');
  expect([...unknownIn(read, ['builders', 'vigil', 'demo', 'hive']), ...read.warnings]).toEqual([]);
});
