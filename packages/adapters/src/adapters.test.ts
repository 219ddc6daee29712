import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { adapterNamed, adapterOf, adapters } from './adapters.ts';

test.each(adapters.map(({ name }) => name))('%s is found by its name, and has a contract test', (name) => {
  expect(adapterNamed(name)?.name).toBe(name);
  const file = new URL(`./${name}/${name}.test.ts`, import.meta.url);
  expect(existsSync(file)).toBe(true);
  expect(readFileSync(file, 'utf8')).toContain('adapterContract(');
});

test('a command line belongs to at most one client', () => {
  expect(adapterOf({ command: '/opt/bin/claude', args: [] })?.name).toBe('claude-code');
  expect(adapterOf({ command: 'npx', args: ['-y', '@openai/codex', 'exec', 'x'] })?.name).toBe('codex');
  expect(adapterOf({ command: 'gemini', args: ['-p', 'x'] })?.name).toBe('gemini-cli');
  expect(adapterOf({ command: 'node', args: ['claude.js'] })).toBeUndefined();
});

test('the skeleton in CONTRIBUTING has each part of an adapter and each expectation of the contract, in order', () => {
  const page = readFileSync(new URL('../../../CONTRIBUTING.md', import.meta.url), 'utf8');
  const partsIn = (beginning: string): readonly string[] => {
    const block = page.slice(page.indexOf(beginning)).split('```')[0] ?? '';
    return [...block.matchAll(/^ {2}(\w+):/gm)].flatMap(([, name]) => name ?? []);
  };
  for (const adapter of adapters) expect(partsIn('export const example: Adapter')).toEqual(Object.keys(adapter));
  const contract = readFileSync(new URL('./gemini-cli/gemini-cli.test.ts', import.meta.url), 'utf8');
  const asked = [...contract.matchAll(/^ {2}(\w+):/gm)].flatMap(([, name]) => name ?? []);
  expect(partsIn('adapterContract({')).toEqual(asked);
});
