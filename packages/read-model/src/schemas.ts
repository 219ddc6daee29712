import type { Sql } from './apply.ts';
import type { Database } from './database.ts';

/** The schema of rows that are being rebuilt, and that of the rows before the last rebuild. */
export const REBUILT = 'vigil_rebuilt';
export const BEFORE = 'vigil_before';
/** The schema that readers and the projector use. */
export const PRESENT = 'public';

/** The address of a database with this schema as the only one of its connections. */
export const urlOfSchema = (databaseUrl: string, schema: string): string => {
  const url = new URL(databaseUrl);
  url.searchParams.set('options', `-c search_path=${schema}`);
  return url.href;
};

/** Whether the database has the tables of the read model. */
export const hasTables = async (sql: Sql): Promise<boolean> => {
  const { rows } = await sql.query("SELECT to_regclass('positions') IS NOT NULL AS found");
  return rows[0]?.found === true;
};

export const dropSchema = async (sql: Sql, schema: string): Promise<void> => {
  await sql.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
};

/** Gives another schema the first day of the history, so that it writes no row of a dropped day. */
export const copyFirstDay = async (sql: Sql, schema: string): Promise<void> => {
  await sql.query(`INSERT INTO ${schema}.history_days SELECT * FROM history_days`);
};

/**
 * Makes the rebuilt rows the present ones, in one transaction. The present ones stay until the next rebuild. Statements
 * that run meanwhile wait, and find the rebuilt rows. A projector finds other positions than its own, and continues at
 * them.
 */
export const switchSchemas = (database: Database): Promise<void> =>
  database.transaction(async (sql) => {
    await dropSchema(sql, BEFORE);
    await sql.query(`ALTER SCHEMA ${PRESENT} RENAME TO ${BEFORE}`);
    await sql.query(`ALTER SCHEMA ${REBUILT} RENAME TO ${PRESENT}`);
    await sql.query(`GRANT USAGE ON SCHEMA ${PRESENT} TO PUBLIC`);
  });
