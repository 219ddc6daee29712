/**
 * The claims in a checkpoint: the tasks that it names (`task_id`, coditect's `ticket_id`, `taskId`), and its
 * `schema_version`, null if it has none.
 */
export type Content = { readonly names: readonly unknown[]; readonly schema: string | null };

/** The task names and schema version in a parsed document. */
export const contentIn = (document: unknown): Content => {
  const { task_id, ticket_id, taskId, schema_version } = (document ?? {}) as Readonly<Record<string, unknown>>;
  const names = [task_id, ticket_id, taskId].filter((name) => typeof name === 'string');
  return { names, schema: schema_version === undefined ? null : String(schema_version).slice(0, 32) };
};

/** omniclaude's protocol (`schema_version: 1.1.0`), in any version that adds to it; a document without a version is its author's own. */
export const isKnownSchema = (schema: string | null): boolean => schema === null || /^1(\.\d+){0,2}$/.test(schema);
