import { sparse } from './sparse.ts';

/** How a state of one shape becomes one of the next. `usual`: what the older shape left out at rest, null where it left out nothing. */
export type Upgrade = { readonly usual: unknown; readonly to: (state: unknown) => unknown };

/**
 * How states lie in the snapshot. Their shape is `oldest` and one more for each upgrade, so that another shape brings
 * an upgrade with it. States of a shape below `oldest`, and of a newer one, are refused.
 */
export type AtRest<State> = {
  /** the oldest shape that is read */
  readonly oldest: number;
  /** from `oldest` to the next shape, from that to the one after, and so on */
  readonly upgrades: readonly Upgrade[];
  /** what most states have in common: it takes no place at rest. Another one is another shape. null: nothing is left out */
  readonly usual: State | null;
};

export const shapeOf = ({ oldest, upgrades }: AtRest<unknown>): number => oldest + upgrades.length;

/**
 * A state from its stored text, in the present shape. `shape`: that of the text, not below `oldest` or above the
 * present one.
 */
export const readAtRest = <State>({ oldest, upgrades, usual }: AtRest<State>, shape: number, text: string): State => {
  const [first, ...others] = upgrades.slice(shape - oldest);
  if (first === undefined) return sparse(usual).read(text) as State;
  const before = sparse(first.usual).read(text);
  return [first, ...others].reduce((state, { to }) => to(state), before) as State;
};
