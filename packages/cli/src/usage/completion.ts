import { Argument, type Command } from 'commander';
import { print } from '../terminal.ts';
import { SHELLS, type Shell, scriptOf } from './scripts.ts';
import { treeOf } from './tree.ts';

const EXAMPLES = `
Once for each shell:
  vigil completion bash > ~/.local/share/bash-completion/completions/vigil
  vigil completion zsh > ~/.zfunc/_vigil      and in ~/.zshrc, before compinit: fpath+=(~/.zfunc)
  vigil completion fish > ~/.config/fish/completions/vigil.fish

For one session, and where vigil is an alias, below the alias in ~/.bashrc or, after compinit, in ~/.zshrc:
  source <(vigil completion bash)             or: zsh
In fish: vigil completion fish | source`;

export const register = (program: Command): void => {
  program
    .command('completion')
    .description('print a script with which a shell completes commands, options, and names that the dashboard has')
    .addArgument(new Argument('<shell>', 'which').choices(SHELLS))
    .addHelpText('after', EXAMPLES)
    .action((shell: Shell) => print([scriptOf(shell, treeOf(program))]));
};
