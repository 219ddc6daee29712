import type { ScreenMeaning } from '@vigil/adapters/adapter';
import type { WaitingFor } from '@vigil/events';
import type { Surface } from '../screen/surface.ts';

/** What the hooks of a client have reported of its session. Null: nothing. */
export type SessionFacts = {
  readonly turnOpen: boolean | null;
  /** what it waits for */
  readonly waitingFor: WaitingFor['kind'] | null;
};

export const noSession: SessionFacts = { turnOpen: null, waitingFor: null };

/** Whether a text may be typed now, and as what. `never`: not at any time. */
export type TypingDecision =
  | { readonly kind: 'line' }
  | { readonly kind: 'paste' }
  | { readonly kind: 'wait'; readonly why: string }
  | { readonly kind: 'never'; readonly why: string };

/** A client shows its prompt for a moment before a dialog of its start opens, and between the steps of a turn; milliseconds. */
export const PROMPT_STEADY_MS = 3000;

export const READS_NO_INPUT =
  'the client reads no input (it runs one prompt and ends): a hook or a resumed session carries the text';

const wait = (why: string): TypingDecision => ({ kind: 'wait', why });

const notAtPrompt = (meaning: ScreenMeaning): string | null => {
  switch (meaning.kind) {
    case 'dialog':
      return `nothing is typed into a dialog: its question is ${JSON.stringify(meaning.text)}`;
    case 'working':
      return 'the client works; a text is typed only at its prompt';
    case 'retrying':
      return 'the client retries a request; a text is typed only at its prompt';
    case 'unknown':
      return 'the screen does not show the prompt of the client; a text is typed only there';
    case 'prompt':
      return meaning.pending === null ? null : 'its input line holds a text that was not sent';
  }
};

const atClient = ({ meaning, steadyMs, bracketedPaste }: Surface, session: SessionFacts): TypingDecision => {
  const why = notAtPrompt(meaning);
  if (why !== null) return wait(why);
  if (session.turnOpen === true) return wait('a turn of the client is open; its hook carries the text');
  if (session.waitingFor !== null && session.waitingFor !== 'prompt')
    return wait(`the client waits for a person (${session.waitingFor})`);
  if (!bracketedPaste) return wait('the client takes no bracketed paste, so a dialog could take the text for keys');
  if (steadyMs < PROMPT_STEADY_MS) return wait('the client has not yet stood at its prompt for 3 seconds');
  return { kind: 'paste' };
};

/**
 * The rule for typing. A program that reads lines and echoes them gets a line. A client at its own prompt gets a
 * paste.
 * Nothing is typed into any other terminal, because it may be a dialog, and a key would answer it.
 */
export const decideTyping = (surface: Surface, session: SessionFacts): TypingDecision => {
  const { client, mode, view } = surface;
  if (client?.invocation.headless === true) return { kind: 'never', why: READS_NO_INPUT };
  if (client !== null) return atClient(surface, session);
  if (mode === null) return wait('it is not known how the program on the terminal reads its input');
  if (view.alternate)
    return wait('the program draws a screen of its own (alternate screen), and no adapter exists for it');
  if (!mode.canonical) return wait('the program reads keys, not lines (raw mode), and no adapter exists for it');
  if (!mode.echo) return wait('the program reads without echo, as for a password');
  return { kind: 'line' };
};
