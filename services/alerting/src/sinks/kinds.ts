import { command } from './command.ts';
import { files } from './files.ts';
import { webhook } from './webhook.ts';

/** To add a kind of sink: a file beside this one, and its line here. */
export const KINDS = { webhook, command, files } as const;
