import type { Adapter, CommandLine, Invocation } from '@vigil/adapters/adapter';

/** What a supervisor has to know of a client to read its screen and to type at it. */
export type ScreenAdapter = Pick<Adapter, 'name' | 'invocation' | 'screen' | 'typed'>;

/** A coding agent's client with an adapter for its screen. `invocation`: from its command line. */
export type ScreenClient = Pick<Adapter, 'screen' | 'typed'> & { readonly invocation: Invocation };

/** The client that this command line starts; null: there is no adapter for the program. */
export const screenClientOf = (adapters: readonly ScreenAdapter[], line: CommandLine): ScreenClient | null => {
  for (const { invocation: invocationOf, screen, typed } of adapters) {
    const invocation = invocationOf(line);
    if (invocation !== null) return { screen, typed, invocation };
  }
  return null;
};
