import type { Typing } from '@vigil/adapters/adapter';
import type { Surface } from '../screen/surface.ts';
import { asOneLine } from '../terminal/terminal.ts';
import { decideTyping, type SessionFacts } from './decide.ts';

/** A terminal, and its known state. */
export type Keyboard = {
  /** the current state: all output is drawn */
  readonly surface: () => Promise<Surface>;
  readonly session: () => SessionFacts;
  readonly write: (keys: string) => void;
  readonly pause: (ms: number) => Promise<unknown>;
};

/** What became of a text. `failed`: it was not sent; `uncertain`: it was, and nothing confirms that the agent has it. */
export type TypingOutcome =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'uncertain' | 'failed'; readonly why: string };

const LOOK_EVERY_MS = 100;
/** How many looks until a text that was typed has to be shown, and until it has to be confirmed. */
const looks = { shown: 30, confirmed: 60 };

const failed = (why: string): TypingOutcome => ({ kind: 'failed', why });
const uncertain = (why: string): TypingOutcome => ({ kind: 'uncertain', why });

const compact = (text: string): string => text.replace(/\s+/gu, '');

/** Whether the screen shows the text outside of the input line. */
const isOnScreen = ({ view }: Surface, text: string): boolean => compact(view.lines.join('')).includes(compact(text));

const pendingIn = ({ meaning }: Surface): string | null => (meaning.kind === 'prompt' ? meaning.pending : null);

const looking = async (
  keyboard: Keyboard,
  times: number,
  isEnough: (surface: Surface) => boolean,
): Promise<{ readonly found: boolean; readonly surface: Surface }> => {
  let surface = await keyboard.surface();
  for (let look = 0; look < times && !isEnough(surface); look += 1) {
    await keyboard.pause(LOOK_EVERY_MS);
    surface = await keyboard.surface();
  }
  return { found: isEnough(surface), surface };
};

/** Why Enter is not pressed; null: the prompt holds the text and nothing else has happened. */
const noEnter = (surface: Surface, { isShownBy }: Typing, { turnOpen, waitingFor }: SessionFacts): string | null => {
  const { meaning } = surface;
  if (meaning.kind === 'dialog') return `a dialog opened: its question is ${JSON.stringify(meaning.text)}`;
  if (meaning.kind !== 'prompt') return 'the client left its prompt';
  if (meaning.pending === null || !isShownBy(meaning.pending)) return 'its input line does not show the text';
  if (turnOpen === true) return 'another turn began';
  return waitingFor === null || waitingFor === 'prompt' ? null : `the client waits for a person (${waitingFor})`;
};

/** Empties the input line, where it holds something and nothing else would take the key. */
const withdraw = (keyboard: Keyboard, surface: Surface, typing: Typing): string => {
  if (pendingIn(surface) === null) return '';
  keyboard.write(typing.withdraw);
  return '; the text was withdrawn';
};

const submitted = async (keyboard: Keyboard, typing: Typing, text: string): Promise<TypingOutcome> => {
  const hasTaken = (surface: Surface): boolean =>
    keyboard.session().turnOpen === true ||
    surface.meaning.kind === 'working' ||
    surface.meaning.kind === 'retrying' ||
    (surface.meaning.kind !== 'unknown' && pendingIn(surface) === null && isOnScreen(surface, text));
  const { found, surface } = await looking(keyboard, looks.confirmed, hasTaken);
  if (found) return { kind: 'delivered' };
  const pending = pendingIn(surface);
  if (pending !== null && typing.isShownBy(pending))
    return failed(`Enter did not send it${withdraw(keyboard, surface, typing)}`);
  return uncertain('it was sent, and neither a hook nor the screen confirms that the client has it');
};

const typedAsPaste = async (keyboard: Keyboard, typing: Typing, text: string): Promise<TypingOutcome> => {
  keyboard.write(typing.text);
  const { surface } = await looking(
    keyboard,
    looks.shown,
    (now) => now.meaning.kind === 'dialog' || noEnter(now, typing, keyboard.session()) === null,
  );
  const early = noEnter(surface, typing, keyboard.session());
  if (early !== null) return failed(`it was typed and not sent: ${early}${withdraw(keyboard, surface, typing)}`);
  await keyboard.pause(LOOK_EVERY_MS);
  const last = await keyboard.surface();
  const late = noEnter(last, typing, keyboard.session());
  if (late !== null) return failed(`it was typed and not sent: ${late}${withdraw(keyboard, last, typing)}`);
  keyboard.write(typing.submit);
  return submitted(keyboard, typing, text);
};

const typedAsLine = async (keyboard: Keyboard, text: string): Promise<TypingOutcome> => {
  keyboard.write(asOneLine(text));
  const decision = decideTyping(await keyboard.surface(), keyboard.session());
  if (decision.kind !== 'line')
    return uncertain(
      `it was typed and not sent: ${decision.kind === 'paste' ? 'a client took the terminal over' : decision.why}`,
    );
  keyboard.write('\r');
  // The terminal echoes a line whether its program reads it or hangs.
  return uncertain('it was typed as a line, and nothing shows that the program has read it');
};

/** Types a text and sends it, where the rule allows it at this moment. Text and Enter are separate writes, and the rule is asked before each. */
export const typeText = async (keyboard: Keyboard, text: string): Promise<TypingOutcome> => {
  const surface = await keyboard.surface();
  const decision = decideTyping(surface, keyboard.session());
  switch (decision.kind) {
    case 'wait':
    case 'never':
      return failed(`nothing was typed: ${decision.why}`);
    case 'line':
      return typedAsLine(keyboard, text);
    case 'paste':
      return surface.client === null
        ? failed('nothing was typed: no adapter exists for the program')
        : typedAsPaste(keyboard, surface.client.typed(text), text);
  }
};

/** Waits until the screen shows that the turn of the client is over. False: it does not within the limit. */
export const standsAtPrompt = async (keyboard: Keyboard): Promise<boolean> => {
  const isOver = ({ meaning }: Surface): boolean => meaning.kind === 'prompt' && meaning.turnOver;
  return (await looking(keyboard, looks.confirmed, isOver)).found;
};
