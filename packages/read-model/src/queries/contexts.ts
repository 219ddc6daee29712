import type { Sql } from '../apply.ts';
import { column, listed, type RowOf, select } from './select.ts';

const context = {
  agentId: column<string>(),
  /** see `orderOf` */
  order: column<string>('heartbeat_order'),
  instanceId: column<string | null>('heartbeat_instance_id'),
  used: column<number | null>('heartbeat_context_used'),
  max: column<number | null>('heartbeat_context_max'),
};

/** The context of an agent, as its newest heartbeat reports it. Null: it does not. */
export type ContextRow = RowOf<typeof context>;

/** The contexts of these agents, as far as the rows have them. */
export const contexts = (sql: Sql, agentIds: readonly string[]): Promise<readonly ContextRow[]> =>
  select<ContextRow>(
    sql,
    `SELECT ${listed(context)} FROM agents WHERE agent_id = ANY($1) AND heartbeat_order IS NOT NULL`,
    [agentIds],
  );
