import type { StartQuestion } from '../../client/session.ts';
import type { ClientKind } from '../../model/answer.ts';
import type { ScenarioName } from '../../model/scenarios.ts';
import type { Terminal } from '../../terminal.ts';

/**
 * The screen at a marker. `dialog`: it has a question that a key would answer. `prompt`: the client's own prompt.
 * `busy`: a turn is open. `other`: none of these, such as an error page.
 */
export type Situation = 'dialog' | 'prompt' | 'busy' | 'other';

export type Stage = {
  readonly shows: Terminal['shows'];
  /** keys, one write each, with a short pause after each */
  readonly press: (...keys: readonly string[]) => Promise<void>;
  /** the text as one bracketed paste, without Enter */
  readonly paste: (text: string) => Promise<void>;
  /** waits until the screen rests, then writes a marker: from here on the situation holds */
  readonly mark: (situation: Situation, what: string) => Promise<void>;
  readonly wait: (ms: number) => Promise<void>;
};

export type Recording = {
  readonly name: string;
  readonly client: ClientKind;
  readonly scenario: ScenarioName;
  readonly openQuestions: readonly StartQuestion[];
  readonly skipsPermissions: boolean;
  readonly prompt: string | null;
  readonly moreArgs: readonly string[];
  readonly moreEnv: Readonly<Record<string, string | null>>;
  /** commands that start before the recorded one, headless, with this prompt: sessions to resume */
  readonly earlierPrompt: string | null;
  readonly play: (stage: Stage) => Promise<void>;
};

export const ENTER = '\r';
export const ESCAPE = '\u001B';
export const UP = '\u001B[A';
export const DOWN = '\u001B[B';

/** A text with digits, y and n, which a dialog would take for keys. */
export const REMINDER = 'REMINDER: You have been working for 2 minutes, 1 y n 2 3.';

export const recording = (
  given: Pick<Recording, 'name' | 'client' | 'scenario' | 'play'> & Partial<Recording>,
): Recording => ({
  openQuestions: [],
  skipsPermissions: false,
  prompt: null,
  moreArgs: [],
  moreEnv: {},
  earlierPrompt: null,
  ...given,
});
