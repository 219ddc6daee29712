import type { HealthEvent } from '@vigil/events';

type PayloadOfType<K extends HealthEvent['type']> = Extract<HealthEvent, { readonly type: K }>['payload'];

/** An event in one sentence, without its subject where the subject is shown beside it. */
export type Descriptions = { readonly [K in HealthEvent['type']]?: (payload: PayloadOfType<K>) => string };

/** `, because …` where there is a because. */
export const because = (why: string | null | undefined): string => (why ? `: ${why}` : '');

/** `absence, repetition and cost`. */
export const listed = (names: readonly string[]): string =>
  names.length < 2 ? names.join() : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;

export const times = (attempt: number, of: number): string => `${attempt} of ${of}`;

/** Where an order goes. An agent without a runtime takes its orders itself, with the answers to its heartbeats. */
export const orderTarget = (runtimeId: string): string => (runtimeId === '' ? 'the agent itself' : runtimeId);
