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
  // The pool listens only while a connection is idle. Its next query fails with the error.
  pool.on('connect', (client) => client.on('error', () => {}));
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

/** The password is wrong, its file cannot be read, or DATABASE_URL has a password already. */
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

/**
 * Converts a failed connection to DatabaseUnreachable, and refused credentials to CorrectDatabaseVariables. Returns other
 * errors unchanged.
 */
export const asUnreachable = (databaseUrl: string, cause: unknown): unknown => {
  const code = (cause as { code?: unknown } | null)?.code;
  if (typeof code !== 'string') return cause;
  const why = cause instanceof Error ? cause.message || code : code;
  if (code.startsWith('28'))
    return new CorrectDatabaseVariables(
      `Postgres at ${addressOf(databaseUrl)} refuses the credentials: ${why}. Correct the user and the password of DATABASE_URL.`,
      { cause },
    );
  if (!NO_CONNECTION.has(code) && code !== '3D000') return cause;
  return new DatabaseUnreachable(
    `Postgres at ${addressOf(databaseUrl)} cannot be used: ${why}. Start it, or correct DATABASE_URL.`,
    { cause },
  );
};

/** Of a Postgres that ends, has crashed, starts, or has no more connections. */
const GOES_OR_COMES = new Set(['57P01', '57P02', '57P03', '53300', 'EPIPE']);

/** Whether Postgres is away: it cannot be reached, or has ended the connection. The same work may succeed later. */
export const isAway = (error: unknown): boolean => {
  if (error instanceof DatabaseUnreachable) return true;
  const { code, message } = (error ?? {}) as { readonly code?: unknown; readonly message?: unknown };
  if (typeof code === 'string') return NO_CONNECTION.has(code) || GOES_OR_COMES.has(code) || /^08\w{3}$/.test(code);
  // The client's own errors have no code.
  return (
    typeof message === 'string' && /^(Connection terminated|Client has encountered a connection error)/.test(message)
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
