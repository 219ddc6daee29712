import { GatewayForbids } from '../errors.ts';
import type { Gateway } from './gateway-client.ts';

/**
 * Whether the gateway takes an agent's heartbeats. `why`: a sentence with the remedy. `forbidden`: the token is that of
 * another name.
 */
export type Reach =
  | { readonly kind: 'watched' }
  | { readonly kind: 'unwatched'; readonly why: string; readonly forbidden: boolean };

/** A token of another name is one cause, whichever request the gateway refuses for it. */
export const isSameReach = (one: Reach, other: Reach): boolean => {
  if (one.kind === 'watched' || other.kind === 'watched') return one.kind === other.kind;
  return one.why === other.why || (one.forbidden && other.forbidden);
};

export const unwatched = (error: unknown): Reach => ({
  kind: 'unwatched',
  why: error instanceof Error ? error.message : String(error),
  forbidden: error instanceof GatewayForbids,
});

/** Two supervisors, each with a state folder of its own, run this name at once, and the gateway judges the newer one. */
export const replaced = (agentId: string, successor: string): Reach => ({
  kind: 'unwatched',
  why: `${agentId} was started again elsewhere as instance ${successor}, and Vigil watches that one in its place: end one of the two, or start it with another --name`,
  forbidden: false,
});

/** Asks the gateway, before anything is started, whether it takes this runtime. One that does not answer in time does not. */
export const probeReach = async (gateway: Gateway, runtimeId: string, withinMs: number): Promise<Reach> => {
  try {
    await gateway.orders(runtimeId, 0, AbortSignal.timeout(withinMs));
    return { kind: 'watched' };
  } catch (error) {
    return unwatched(error);
  }
};
