import { z } from 'zod';

const id = z.string().max(200);
const orderIds = z.array(z.string().max(128)).max(20);

/**
 * What a hook sends. `spooled`: it has spooled its record and requests its answer. `takes`: it takes the texts that it is offered; a hook that
 * had to leave before takes none. `printed`: it has printed them.
 */
export const hookMessage = z.union([
  z.strictObject({ spooled: id }),
  z.strictObject({ takes: z.literal(true) }),
  z.strictObject({ printed: orderIds }),
]);

export type HookMessage = z.output<typeof hookMessage>;

/**
 * What a hook is answered: how many texts there are for it, and why its call is not to be made, in words for the model. Where it takes the
 * texts, it is answered how many follow, each on a line of its own.
 */
export type HookAnswer =
  | { readonly hook: { readonly texts: number; readonly refusal: string | null } }
  | { readonly text: string; readonly order_id: string };
