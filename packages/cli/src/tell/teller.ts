import type { HealthEvent } from '@vigil/events';

type PayloadOfType<K extends HealthEvent['type']> = Extract<HealthEvent, { readonly type: K }>['payload'];

/** An event in one sentence, without its subject where that stands beside it. */
export type Tellers = { readonly [K in HealthEvent['type']]?: (payload: PayloadOfType<K>) => string };

/** `, because …` where there is a because. */
export const because = (why: string | null | undefined): string => (why ? `: ${why}` : '');

export const times = (attempt: number, of: number): string => `${attempt} of ${of}`;
