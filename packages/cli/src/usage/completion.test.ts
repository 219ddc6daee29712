import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Command } from 'commander';
import { afterAll, expect, test } from 'vitest';
import { filesFor } from '../commands/commands.ts';
import { register as registerCompletion } from './completion.ts';
import { commandAt, register as registerHelp } from './help.ts';
import { SHELLS, scriptOf } from './scripts.ts';
import { treeOf } from './tree.ts';

const program = new Command('vigil');
for (const { load } of filesFor(undefined)) (await load()).register(program);
registerHelp(program);
registerCompletion(program);
const tree = treeOf(program);

const folder = mkdtempSync(path.join(tmpdir(), 'vigil-completion-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('the tree has every command at any depth, with its options and the choices of its arguments', () => {
  expect(tree[0]?.words.map(({ word }) => word)).toEqual(expect.arrayContaining(['health', 'case', 'completion']));
  const decide = tree.find((entry) => entry.path === 'case decide');
  expect(decide?.words.map(({ word }) => word)).toContain('allow_more_time');
  expect(decide?.options.map(({ name }) => name)).toEqual(expect.arrayContaining(['--for', '--why', '--json']));
  expect(tree.find((entry) => entry.path === 'alert silence')?.names).toBe('matcher');
  const filter = tree.find((entry) => entry.path === 'health')?.options.find(({ name }) => name === '--filter');
  expect(filter).toMatchObject({ takesValue: true, choices: ['unhealthy', 'waiting'] });
});

test.each(SHELLS)('the script for %s has every command and every option', (shell) => {
  const script = scriptOf(shell, tree);
  for (const { path: at, options } of tree) {
    expect(script).toContain(at);
    for (const { name } of options) expect(script).toContain(name.replace(/^--/, ''));
  }
});

/** What bash completes in the last of these words, without a dashboard. */
const completed = (...words: readonly string[]): readonly string[] => {
  const script = `${scriptOf('bash', tree)}
COMP_LINE="$*"; COMP_LINE="\${COMP_LINE// = /=}"; COMP_LINE="\${COMP_LINE/% =/=}"; COMP_POINT=\${#COMP_LINE}
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _vigil; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync('bash', ['-c', script, 'bash', 'vigil', ...words], { encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout.split('\n').filter((line) => line !== '');
};

test('bash completes commands, their commands, options, and the values of options', () => {
  expect(completed('he')).toEqual(['health', 'help']);
  expect(completed('case', '')).toEqual(expect.arrayContaining(['list', 'show', 'decide', '--help']));
  expect(completed('case', 'list', '--a')).toEqual(['--all', '--agent']);
  expect(completed('case', 'decide', 'case-1', 'par')).toEqual(['pardon']);
  expect(completed('health', '--filter', '')).toEqual(['unhealthy', 'waiting']);
  expect(completed('case', 'list', '--agent', 'worker-1', '--al')).toEqual(['--all']);
  expect(completed('health', '--state', 'ST')).toEqual(['STUCK']);
  expect(completed('health', '--filter', '=', 'un')).toEqual(['unhealthy']);
  expect(completed('health', '--state', '=')).toContain('FAILING');
  expect(completed('ticket', 'file', 'worker-1', '--severity', 'h')).toEqual(['high']);
  expect(completed('token', 'create', 'person', 'ada', '--role', 'r')).toEqual(['responder']);
  expect(completed('token', 'create', 'ru')).toEqual(['runtime']);
  expect(completed('hook', 'install', '--client', 'cl')).toEqual(['claude-code']);
  expect(completed('completion', 'f')).toEqual(['fish']);
  expect(completed('health', '--task', '')).toEqual([]);
  expect(completed('nonsense')).toEqual([]);
});

test('help completes the commands of a command at any depth, and neither its options nor its choices', () => {
  expect(completed('help', 'ca')).toEqual(['case']);
  expect(completed('help', 'case', '')).toEqual(expect.arrayContaining(['list', 'show', 'decide', '--help']));
  expect(completed('help', 'case', 'de')).toEqual(['decide']);
  expect(completed('help', 'case', 'list', '')).toEqual(['--help']);
  expect(completed('help', 'case', 'list', '--a')).toEqual([]);
  expect(completed('help', 'completion', 'f')).toEqual([]);
});

test.each(SHELLS)('the script for %s has each choice of an option and of an argument', (shell) => {
  const script = scriptOf(shell, tree);
  const choices = tree.flatMap(({ options, words }) => [
    ...options.flatMap((one) => one.choices),
    ...words.map(({ word }) => word),
  ]);
  expect(choices).toEqual(expect.arrayContaining(['STUCK', 'waiting', 'critical', 'pardon', 'fish']));
  for (const choice of choices) expect(script).toContain(choice);
});

test.each(['zsh', 'fish'] as const)('%s accepts its script, where it is installed', (name) => {
  const file = path.join(folder, name);
  writeFileSync(file, scriptOf(name, tree));
  const { error, stderr } = spawnSync(name, ['-n', file], { encoding: 'utf8' });
  if (error === undefined) expect(stderr).toBe('');
});

test('help names a command at any depth, and refuses a word that names none with the nearest', () => {
  expect(commandAt(program, ['case', 'decide']).name()).toBe('decide');
  expect(commandAt(program, [])).toBe(program);
  expect(() => commandAt(program, ['case', 'lits'])).toThrow(
    'vigil case has no command "lits": did you mean list? `vigil case --help` shows its usage.',
  );
  expect(() => commandAt(program, ['nosuch'])).toThrow(
    'vigil has no command "nosuch": `vigil --help` shows its usage.',
  );
});
