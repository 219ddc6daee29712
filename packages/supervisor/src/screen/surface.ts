import type { ScreenMeaning, ScreenView } from '@vigil/adapters/adapter';
import type { StartedClient } from '../orders/client-control.ts';
import type { InputMode } from './input-mode.ts';

/** The state of an agent's terminal at one moment. */
export type Surface = {
  readonly view: ScreenView;
  readonly bracketedPaste: boolean;
  /** null: not known */
  readonly mode: InputMode | null;
  /** null: there is no adapter for the program */
  readonly client: Pick<StartedClient, 'invocation' | 'screen' | 'typed'> | null;
  readonly meaning: ScreenMeaning;
  /** for how long the screen has meant the same, milliseconds */
  readonly steadyMs: number;
};

/**
 * Whether the program prints lines. A program draws in the alternate screen, key by key, or with bracketed
 * paste. The output of one that draws does not count as activity: a spinner turns while it hangs, and it stands still while it waits.
 * Behind a pipe Vigil itself switches echo off, together with the processing of output.
 */
export const printsLines = ({ view, bracketedPaste, mode, client }: Surface): boolean =>
  !view.alternate &&
  !bracketedPaste &&
  (mode === null || (mode.canonical && (mode.echo || !mode.opost))) &&
  (client === null || client.invocation.headless);

/**
 * Whether silence of the terminal is silence of the agent. It is not for a client that prints its answer at the end: such a client works
 * in silence. `isReported`: a hook or an event of the client has reported the session.
 */
export const isSilenceKnown = (surface: Surface, isReported: boolean): boolean =>
  printsLines(surface) && (surface.client === null || surface.client.invocation.printsProgress || isReported);
