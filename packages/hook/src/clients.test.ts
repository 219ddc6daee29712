import { adapters } from '@vigil/adapters';
import { expect, test } from 'vitest';
import { loadHooks } from './clients.ts';

test.each(adapters)('the hook of $name loads: without it, an installed hook does nothing', async ({ name, hooks }) => {
  expect(await loadHooks(name)).toBe(hooks);
});

test('a client without an adapter has no hook', async () => {
  expect(await loadHooks('aider')).toBeUndefined();
  expect(await loadHooks('constructor')).toBeUndefined();
});
