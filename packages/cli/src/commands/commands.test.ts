import { readdirSync } from 'node:fs';
import path from 'node:path';
import { Command } from 'commander';
import { expect, test } from 'vitest';
import { filesFor } from './commands.ts';

const registeredBy = async (word: string | undefined): Promise<readonly string[]> => {
  const program = new Command();
  for (const { load } of filesFor(word)) (await load()).register(program);
  return program.commands.map((command) => command.name());
};

test('each file of commands registers the commands by whose names it is loaded', async () => {
  for (const { names } of filesFor(undefined)) expect(await registeredBy(names[0])).toEqual(names);
});

test('a word that is not a command loads all commands, for the help and the suggestion', async () => {
  const all = filesFor(undefined).flatMap(({ names }) => names);
  for (const word of [undefined, '--help', 'help', 'helth']) expect(await registeredBy(word)).toEqual(all);
});

test('every file that registers a command is among those that are loaded', async () => {
  const known = await Promise.all(filesFor(undefined).map(({ load }) => load()));
  for (const name of readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.ts') || name.endsWith('.test.ts')) continue;
    const file = await import(path.join(import.meta.dirname, name));
    if ('register' in file) expect(known.map(({ register }) => register)).toContain(file.register);
  }
});

/** What passes on the terminal, the events or the questions of another program has nothing for programs of its own. */
const WITHOUT_JSON = ['attach', 'complete', 'hook', 'mcp', 'runtime', 'up'];

const leaves = (command: Command): readonly Command[] =>
  command.commands.length === 0 ? [command] : command.commands.flatMap(leaves);

test('every command has --json', async () => {
  const program = new Command();
  for (const { load } of filesFor(undefined)) (await load()).register(program);
  const without = leaves(program).filter(({ options }) => !options.some(({ long }) => long === '--json'));
  expect(without.map((command) => command.name()).filter((name) => !WITHOUT_JSON.includes(name))).toEqual([]);
});
