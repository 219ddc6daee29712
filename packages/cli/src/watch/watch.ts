import type { Client } from '../client.ts';
import { watchLines } from './lines.ts';
import { watchOnScreen } from './on-screen.ts';
import type { Selection } from './seen.ts';

/**
 * Shows the fleet until Ctrl-C: on a terminal as a screen of its own, otherwise a line for each event. `opened`: the
 * agent that is shown first; null: the fleet.
 */
export const watch = (client: Client, selection: Selection, opened: string | null): Promise<void> =>
  process.stdout.isTTY ? watchOnScreen(client, selection, opened) : watchLines(client, selection);
