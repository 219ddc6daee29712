import { readFileSync } from 'node:fs';
import pg from 'pg';
import type { Sql } from './apply.ts';

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

/** A pool of connections. Instants are returned as epoch milliseconds, int8 as numbers. */
export type Database = Sql &
  AsyncDisposable & {
    /** Runs statements in one transaction. */
    readonly transaction: <T>(work: (sql: Sql) => Promise<T>) => Promise<T>;
    readonly close: () => Promise<void>;
  };

const transaction = async <T>(pool: pg.Pool, work: (sql: Sql) => Promise<T>): Promise<T> => {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    client.release();
    return result;
  } catch (error) {
    // A connection whose transaction failed is not used again. Checking whether it still works costs more.
    client.release(true);
    throw error;
  }
};

/**
 * Opens a database and sends it one query. `onTrouble` receives errors of idle connections; the pool replaces them.
 * `limitMs`: a connection or an answer that takes longer is an error; 0: it may take as long as it needs. Throws
 * DatabaseUnreachable.
 */
export const openDatabase = async (
  databaseUrl: string,
  onTrouble: (error: Error) => void,
  limitMs: number,
): Promise<Database> => {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: 8,
    types,
    application_name: 'vigil',
    connectionTimeoutMillis: limitMs,
    query_timeout: limitMs,
  });
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
};

const FIRST_ATTEMPTS = 10;

const isLate = (error: unknown): boolean => error instanceof Error && /timeout/i.test(error.message);

/**
 * Opens a database for a service that starts. Its process may be busy for longer than it waits for a connection, so a
 * timeout is tried ten times. Any other failure is final.
 */
export const openDatabaseAtStart: typeof openDatabase = async (databaseUrl, onTrouble, limitMs) => {
  for (let attempt = 1; ; attempt += 1)
    try {
      return await openDatabase(databaseUrl, onTrouble, limitMs);
    } catch (error) {
      if (attempt === FIRST_ATTEMPTS || !isLate(error)) throw error;
    }
};

/** Start Postgres, or correct DATABASE_URL. */
export class DatabaseUnreachable extends Error {
  override readonly name = 'DatabaseUnreachable';
}

/** The rows were built from another Kafka cluster. Connect to that one, or rebuild them from this one. */
export class OtherCluster extends Error {
  override readonly name = 'OtherCluster';
  /** starting again changes nothing */
  readonly exitCode = 2;
  constructor(remembered: string, found: string) {
    super(
      `the read model was built from Kafka cluster ${remembered}, but KAFKA_BROKERS names ${found}. ` +
        'Point KAFKA_BROKERS at the first, or DATABASE_URL at an empty database: it is built again from the topics.',
    );
  }
}

/** The file of the password cannot be read, or DATABASE_URL has a password already. */
export class CorrectDatabaseVariables extends Error {
  override readonly name = 'CorrectDatabaseVariables';
  /** starting again changes nothing */
  readonly exitCode = 2;
}

/** DATABASE_URL with the password of its file. Throws CorrectDatabaseVariables. */
export const databaseUrlFrom = ({
  DATABASE_URL: given,
  DATABASE_PASSWORD_FILE: file,
}: {
  readonly DATABASE_URL: string;
  readonly DATABASE_PASSWORD_FILE?: string | undefined;
}): string => {
  if (!file) return given;
  const url = new URL(given);
  if (url.password !== '')
    throw new CorrectDatabaseVariables('DATABASE_PASSWORD_FILE is set and DATABASE_URL has a password: leave one out');
  try {
    url.password = encodeURIComponent(readFileSync(file, 'utf8').trim());
  } catch (cause) {
    throw new CorrectDatabaseVariables(
      `DATABASE_PASSWORD_FILE names ${file}, which cannot be read: ${(cause as Error).message}`,
      { cause },
    );
  }
  return url.href;
};

/** The address of a database without the password, for messages. */
export const addressOf = (databaseUrl: string): string => {
  const url = URL.parse(databaseUrl);
  return url === null ? 'DATABASE_URL (which is not a URL)' : `${url.host}${url.pathname}`;
};

const NO_CONNECTION = new Set(['ECONNREFUSED', 'ENOTFOUND', 'ECONNRESET', 'ETIMEDOUT', 'EAI_AGAIN']);

/** Converts a failed connection to DatabaseUnreachable. Returns other errors unchanged. */
export const asUnreachable = (databaseUrl: string, cause: unknown): unknown => {
  const code = (cause as { code?: unknown } | null)?.code;
  if (typeof code !== 'string') return cause;
  if (!NO_CONNECTION.has(code) && !code.startsWith('28') && code !== '3D000') return cause;
  const why = cause instanceof Error ? cause.message || code : code;
  return new DatabaseUnreachable(
    `Postgres at ${addressOf(databaseUrl)} cannot be used: ${why}. Start it, or correct DATABASE_URL.`,
    { cause },
  );
};

/**
 * Whether Postgres refuses the values of a statement (SQLSTATE classes 22, 23, and 54: too long for an index): then it
 * refuses the same values again.
 */
export const isDataError = (error: unknown): boolean => {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && /^(22|23|54)\w{3}$/.test(code);
};
