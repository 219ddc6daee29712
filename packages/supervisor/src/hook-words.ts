import { z } from 'zod';

const orderIds = z.array(z.string().max(128)).max(20);

/** How a hook says what it is: it asks, takes the texts that it is offered (one that had to leave before takes none), and tells which it has passed on. */
export const hookWord = z.union([
  z.strictObject({ takes_text: z.boolean(), asks: z.boolean(), turn_over: z.boolean() }),
  z.strictObject({ takes: z.literal(true) }),
  z.strictObject({ told: orderIds }),
]);

export type HookWord = z.output<typeof hookWord>;

/** The call that it asks about is not to be made now; times in epoch milliseconds. */
export type Denied = { readonly breaker: string; readonly failures: number; readonly nextAttemptAt: number | null };

/** What a hook is answered: how many texts there are for it; where it takes them, how many follow, each on a line of its own. */
export type HookAnswer =
  | { readonly hook: { readonly texts: number; readonly denied: Denied | null } }
  | { readonly text: string; readonly order_id: string };
