import type { Sql } from '../apply.ts';

const camel = (name: string): string => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** Rows as the types of rows.ts spell them: the one place where snake_case becomes camelCase. Contents of JSON are left alone. */
export async function select<Row>(sql: Sql, text: string, values: unknown[] = []): Promise<readonly Row[]> {
  const { rows } = await sql.query(text, values);
  return rows.map((row) => Object.fromEntries(Object.entries(row).map(([k, v]) => [camel(k), v])) as Row);
}

/** `WHERE` of the requested conditions; each names its own value as $n. */
export function where(conditions: readonly (readonly [sql: string, value?: unknown] | null)[]): {
  readonly text: string;
  readonly values: unknown[];
} {
  const values: unknown[] = [];
  const texts = conditions
    .filter((c) => c !== null)
    .map(([sql, ...given]) => {
      if (given.length === 0) return sql;
      values.push(given[0]);
      return sql.replaceAll('$?', `$${values.length}`);
    });
  return { text: texts.length === 0 ? '' : `WHERE ${texts.join(' AND ')}`, values };
}

/** A condition where a value is given. */
export const when = (sql: string, value: unknown): readonly [string, unknown] | null =>
  value === undefined ? null : [sql, value];
