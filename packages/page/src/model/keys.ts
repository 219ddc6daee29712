import { VIEWS, type ViewName } from './places.ts';

/** What a key does. */
export type KeyAction =
  | { readonly kind: 'go'; readonly view: ViewName }
  | { readonly kind: 'find' }
  | { readonly kind: 'help' }
  | { readonly kind: 'review' }
  /** the cell of the fleet that is reached by the keyboard takes the focus, or is opened */
  | { readonly kind: 'cell'; readonly isOpened: boolean };

export type Pressed = {
  readonly key: string;
  readonly withModifier: boolean;
  /** a field takes the key as text */
  readonly inField: boolean;
  /** `g` was the last key */
  readonly afterG: boolean;
  /** nothing has the focus, so that the key means the view */
  readonly inView: boolean;
};

const ARROWS = ['ArrowDown', 'ArrowUp', 'ArrowLeft', 'ArrowRight'];

/** What a key does; `null`: nothing. A key in a field, or with Ctrl, Alt or Meta, belongs to the browser. */
export const keyAction = ({ key, withModifier, inField, afterG, inView }: Pressed): KeyAction | null => {
  if (inField || withModifier) return null;
  const view = afterG ? VIEWS.find((one) => one.key === key) : undefined;
  if (view !== undefined) return { kind: 'go', view: view.name };
  if (key === '/') return { kind: 'find' };
  if (key === '?') return { kind: 'help' };
  if (inView && (key === 'Enter' || ARROWS.includes(key))) return { kind: 'cell', isOpened: key === 'Enter' };
  return key === 'q' ? { kind: 'review' } : null;
};
