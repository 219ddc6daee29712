import path from 'node:path';
import { type Argument, Command, type Option } from 'commander';
import { expect, test } from 'vitest';
import { filesFor } from '../commands/commands.ts';
import { COMMAND_VARIABLES } from '../config.ts';
import { register as registerCompletion } from './completion.ts';
import { register as registerHelp } from './help.ts';

const program = new Command('vigil');
for (const { load } of filesFor(undefined)) (await load()).register(program);
registerHelp(program);
registerCompletion(program);

const cell = (text: string): string => text.replace(/\s+/g, ' ').replaceAll('|', '\\|').replaceAll('<', '&lt;').trim();

/** A default of this machine, such as the name of its user, is not in the page. */
const ofThisMachine = ({ long }: Option): boolean => long === '--by';

const notes = (option: Option): string =>
  [
    option.argChoices === undefined ? '' : `one of ${option.argChoices.map((one) => `\`${one}\``).join(', ')}`,
    option.mandatory ? 'required' : '',
    option.envVar === undefined ? '' : `variable \`${option.envVar}\``,
    ['string', 'number'].includes(typeof option.defaultValue) && option.defaultValue !== '' && !ofThisMachine(option)
      ? `default \`${option.defaultValue}\``
      : '',
  ]
    .filter(Boolean)
    .join('; ');

const rowOf = (name: string, description: string, note: string): string =>
  `| \`${name.replaceAll('|', '\\|')}\` | ${[cell(description), note].filter(Boolean).join('; ')} |`;

const argumentRow = (one: Argument): string =>
  rowOf(one.name(), one.description, one.argChoices?.map((choice) => `\`${choice}\``).join(', ') ?? '');

/** A command with its arguments and options, then its commands. */
const sectionOf = (command: Command, words: readonly string[]): readonly string[] => {
  const help = command.createHelp();
  const rows = [
    ...command.registeredArguments.map(argumentRow),
    ...help
      .visibleOptions(command)
      .filter(({ long }) => long !== '--help')
      .map((option) => rowOf(option.flags, option.description, notes(option))),
  ];
  const title = [...words, command.usage().replace('[options]', '').replace('[command]', '')].join(' ').trim();
  const table = rows.length === 0 ? [] : ['| argument or option | meaning |', '|---|---|', ...rows, ''];
  return [
    `## ${words.join(' ')}`,
    '',
    `\`${title.replace(/\s+/g, ' ')}\`: ${cell(command.description())}`,
    '',
    ...table,
    ...help
      .visibleCommands(command)
      .filter((one) => one.name() !== 'help')
      .flatMap((one) => sectionOf(one, [...words, one.name()])),
  ];
};

const page = [
  '<!-- Written from the command table by packages/cli/src/usage/cli-page.test.ts. Do not edit: delete it, and run that test. -->',
  '# The command line',
  '',
  'Every command of `vigil` with its arguments and options. `vigil COMMAND --help` also has examples.',
  '',
  ...program
    .createHelp()
    .visibleCommands(program)
    .filter((one) => one.name() !== 'help')
    .flatMap((one) => sectionOf(one, ['vigil', one.name()])),
].join('\n');

test('docs/cli.md has every command, argument and option; deleted, it is written again', async () => {
  await expect(page).toMatchFileSnapshot(path.resolve(import.meta.dirname, '../../../../docs/cli.md'));
});

test('the page has no path and no user of this machine', () => {
  expect(page).not.toContain(path.resolve(import.meta.dirname, '../../../..'));
  expect(page).not.toMatch(/default `(root|\/)/);
});

const optionsOf = (command: Command): readonly Option[] => [...command.options, ...command.commands.flatMap(optionsOf)];

test('docs/configuration.md has the variable of each option that help shows, with the same default', () => {
  const variables: Readonly<Record<string, { readonly description: string; readonly default?: string }>> =
    COMMAND_VARIABLES;
  const wrong = optionsOf(program).filter(({ envVar, hidden, defaultValue, long }) => {
    if (envVar === undefined || hidden) return false;
    const described = variables[envVar];
    // Its default depends on the home directory, so the option has none.
    if (long === '--dir') return described === undefined;
    return described === undefined || String(defaultValue ?? '') !== (described.default ?? '');
  });
  expect(wrong.map(({ flags, envVar }) => `${flags} ${envVar}`)).toEqual([]);
});
