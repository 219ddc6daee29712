import type { Draft } from '@vigil/events';
import type { Surroundings } from './dependencies.ts';

/** What is decided in `around` waits for `tell`, to be called once it is committed. Nothing is kept where nobody listens. */
export const gathering = (around: Surroundings): { readonly around: Surroundings; readonly tell: () => void } => {
  const { committed } = around;
  if (committed === undefined) return { around, tell: () => {} };
  const said: Draft[] = [];
  return {
    around: { ...around, decided: (drafts) => said.push(...drafts) },
    tell: () => {
      if (said.length > 0) committed(said.splice(0));
    },
  };
};
