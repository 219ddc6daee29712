import type { AwaitedAgent, Brake } from './state.ts';

/** The lost of each mass failure that the brake has engaged for; none where it is off. */
export const incidentsOf = (brake: Brake | null): readonly (readonly AwaitedAgent[])[] =>
  brake === null ? [] : [brake.awaited, ...(brake.laterIncidents ?? [])];

/** The brake of so many mass failures. */
export const brakeFor = ([awaited, ...laterIncidents]: readonly (readonly AwaitedAgent[])[]): Brake | null =>
  awaited === undefined ? null : { awaited, ...(laterIncidents.length > 0 ? { laterIncidents } : {}) };
