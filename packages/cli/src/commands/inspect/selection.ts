import { type Command, InvalidArgumentError } from 'commander';
import type { Query } from '../../client.ts';

/** Labels that an agent must have, all of them. */
export type Labels = Readonly<Record<string, string>>;

/** `name=value`, once or several times. */
export const labelOption = (text: string, others: Labels = {}): Labels => {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('Give name=value, such as team=core.');
  return { ...others, [text.slice(0, at)]: text.slice(at + 1) };
};

export type SelectionOptions = { readonly host?: string; readonly label?: Labels };

/** Adds --host and --label. `what`: what they limit. */
export const withSelection = (command: Command, what: string): Command =>
  command
    .option('--host <host>', `only ${what} of agents that are, or were last, on this host`)
    .option('--label <name=value>', `only ${what} of agents with this label; repeat it for several`, labelOption);

export const selectionQuery = ({ host, label = {} }: SelectionOptions): Query => ({
  host,
  label: Object.entries(label).map(([name, value]) => `${name}=${value}`),
});
