import { Command } from 'commander';
import { expect, test } from 'vitest';
import { register } from './evaluate.ts';

test('the help names what shows that a recorded run did not finish', () => {
  const program = new Command();
  register(program);
  let help = '';
  const [command] = program.commands;
  command?.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
  for (const field of ['ended_at', 'cut_off', 'outcome: running']) expect(help).toContain(field);
});
