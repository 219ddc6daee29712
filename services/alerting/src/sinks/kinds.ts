import { z } from 'zod';
import type { Sink } from '../sink.ts';
import { command } from './command.ts';
import { files } from './files.ts';
import type { World } from './kind.ts';
import { webhook } from './webhook.ts';

/** How a channel is configured. To add a kind of sink: a file beside this one, and its two lines here. */
export const channel = z.discriminatedUnion('kind', [webhook.settings, command.settings, files.settings], {
  error: 'write kind: webhook, kind: command or kind: files',
});
type Channel = z.output<typeof channel>;

/** The sink of a channel. Throws Refused with what to do. */
export function opened(name: string, settings: Channel, world: World): Sink {
  switch (settings.kind) {
    case 'webhook':
      return webhook.open(name, settings, world);
    case 'command':
      return command.open(name, settings, world);
    case 'files':
      return files.open(name, settings, world);
  }
}
