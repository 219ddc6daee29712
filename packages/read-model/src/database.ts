import pg from 'pg';
import type { Sql } from './apply.ts';
import { asUnreachable } from './errors.ts';

const INT8 = 20;
const TIMESTAMPTZ = 1184;
const asDate = pg.types.getTypeParser(TIMESTAMPTZ);

const types = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') => {
    if (oid === INT8) return Number;
    if (oid === TIMESTAMPTZ) return (text: string) => Number(asDate(text));
    return pg.types.getTypeParser(oid, format as 'text');
  }) as typeof pg.types.getTypeParser,
};

/** A pool of connections. Instants come as epoch milliseconds, int8 as numbers. */
export type Database = Sql &
  AsyncDisposable & {
    /** All or nothing. */
    readonly transaction: <T>(work: (sql: Sql) => Promise<T>) => Promise<T>;
    readonly close: () => Promise<void>;
  };

async function transaction<T>(pool: pg.Pool, work: (sql: Sql) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    client.release();
    return result;
  } catch (error) {
    // A connection whose transaction failed is not used again: a test whether it still works is not worth it.
    client.release(true);
    throw error;
  }
}

/**
 * Opens a database and sends it one query. `onTrouble` receives errors of idle connections; the pool replaces them.
 * Throws DatabaseUnreachable.
 */
export async function openDatabase(databaseUrl: string, onTrouble: (error: Error) => void): Promise<Database> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 8, types, application_name: 'vigil' });
  pool.on('error', onTrouble);
  await pool.query('SELECT 1').catch(async (cause) => {
    await pool.end();
    throw asUnreachable(databaseUrl, cause);
  });
  return {
    query: (text, values) => pool.query(text, values),
    transaction: (work) => transaction(pool, work),
    close: () => pool.end(),
    [Symbol.asyncDispose]: () => pool.end(),
  };
}
