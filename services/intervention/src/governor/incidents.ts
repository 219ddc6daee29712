import type { Brake, Missing } from './state.ts';

/** The lost of each mass failure that the brake has engaged for; none where it is off. */
export const incidentsOf = (brake: Brake | null): readonly (readonly Missing[])[] =>
  brake === null ? [] : [brake.missing, ...(brake.later ?? [])];

/** The brake of so many mass failures. */
export const brakeFor = ([missing, ...later]: readonly (readonly Missing[])[]): Brake | null =>
  missing === undefined ? null : { missing, ...(later.length > 0 ? { later } : {}) };
