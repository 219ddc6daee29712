import { expect, test } from 'vitest';
import { type Brain, run, work } from '../example.ts';
import { connected } from './fixture.ts';

/** Edits twice; the second edit fails. Then it is done. */
const brain = (): Brain & { readonly prompts: string[] } => {
  const prompts: string[] = [];
  return {
    prompts,
    think: async (prompt) => (prompts.push(prompt) > 2 ? null : { tool: 'Edit', args: prompt, tokens: 50 }),
    use: async () => {
      if (prompts.length === 2) throw new Error('no such line');
      return 'edited';
    },
  };
};

test('the example that authors copy reports its calls, steps and tokens, and receives commands', async () => {
  const { vigil, way, system, last } = await connected();
  const mind = brain();
  const think = mind.think;
  const nudged: Brain = {
    ...mind,
    think: async (prompt) => {
      if (mind.prompts.length === 0) way.deps?.deliver({ kind: 'probe', message: 'are you stuck?', nonce: 'n-1' });
      return think(prompt);
    },
  };
  expect(await work('OMN-1', nudged, vigil)).toBe('Edit failed: Error: no such line');
  await system.pass(10_000);
  expect(last().tool_calls.map(({ tool, outcome }) => `${tool} ${outcome}`)).toEqual([
    'model ok',
    'Edit ok',
    'model ok',
    'Edit error',
    'model ok',
  ]);
  expect(last()).toMatchObject({ token_count: 100, steps: { total_steps: 2 } });
  expect(mind.prompts).toEqual(['OMN-1', 'edited\n\nare you stuck?', 'Edit failed: Error: no such line']);
  expect(way.arrived.map(({ probe_reply }) => probe_reply)).toContain('n-1');
});

test('the example runs the same without Vigil', async () => {
  expect(await run('OMN-1', brain())).toBe('Edit failed: Error: no such line');
});
