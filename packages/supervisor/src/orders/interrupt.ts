import type { Interrupt, ScreenMeaning } from '@vigil/adapters/adapter';

/**
 * The known state of a client whose turn is to be interrupted. `turnOpen`: as its hooks report; null: they report
 * nothing.
 */
export type Interruptible = {
  readonly meaning: ScreenMeaning;
  readonly turnOpen: boolean | null;
  readonly isWaiting: boolean;
};

export type Pressing =
  | { readonly kind: 'press'; readonly keys: string }
  | { readonly kind: 'refused'; readonly why: string };

const refused = (why: string): Pressing => ({ kind: 'refused', why });

/**
 * A key is pressed only if the screen shows that the client works. In a dialog it would be an answer, and at the
 * prompt it would change what a person has typed.
 * If the screen does not show turns, the client's hooks decide.
 */
export const decideInterrupt = (how: Interrupt, { meaning, turnOpen, isWaiting }: Interruptible): Pressing => {
  switch (how.kind) {
    case 'none':
      return refused(how.why);
    case 'signal':
      return refused(`${how.signal} ends this client: it is interrupted when its session is resumed`);
    case 'key':
      if (isWaiting) return refused('the agent waits for a person: no key is pressed');
      if (meaning.kind === 'dialog')
        return refused(`no key is pressed in a dialog: it asks ${JSON.stringify(meaning.text)}`);
      if (meaning.kind === 'working' || meaning.kind === 'retrying') return { kind: 'press', keys: how.data };
      if (meaning.kind === 'prompt' && turnOpen === true && meaning.pending === null)
        return { kind: 'press', keys: how.data };
      return refused('the screen does not show that the client works; a key is pressed only then');
  }
};
