/** Start Postgres, or correct DATABASE_URL. */
export class DatabaseUnreachable extends Error {
  override readonly name = 'DatabaseUnreachable';
}

/** The rows were built from another Kafka cluster: connect to that one, or rebuild from this one. */
export class OtherCluster extends Error {
  override readonly name = 'OtherCluster';
  /** starting again changes nothing */
  readonly exitCode = 2;
  constructor(remembered: string, found: string) {
    super(
      `the read model was built from Kafka cluster ${remembered}, but KAFKA_BROKERS leads to ${found}. ` +
        'Point KAFKA_BROKERS at the first, or DATABASE_URL at an empty database: it is built again from the topics.',
    );
  }
}

/** Where a database is, without the password: for messages. */
function addressOf(databaseUrl: string): string {
  const url = URL.parse(databaseUrl);
  return url === null ? 'DATABASE_URL (which is not a URL)' : `${url.host}${url.pathname}`;
}

const NO_CONNECTION = new Set(['ECONNREFUSED', 'ENOTFOUND', 'ECONNRESET', 'ETIMEDOUT', 'EAI_AGAIN']);

/** A connection that cannot be made, as DatabaseUnreachable; everything else as it is. */
export function asUnreachable(databaseUrl: string, cause: unknown): unknown {
  const code = (cause as { code?: unknown } | null)?.code;
  if (typeof code !== 'string') return cause;
  if (!NO_CONNECTION.has(code) && !code.startsWith('28') && code !== '3D000') return cause;
  const why = cause instanceof Error ? cause.message || code : code;
  return new DatabaseUnreachable(
    `Postgres at ${addressOf(databaseUrl)} cannot be used: ${why}. Start it, or correct DATABASE_URL.`,
    { cause },
  );
}

/** Whether Postgres refuses the values of a statement (SQLSTATE classes 22, 23, and 54: too long for an index): the same ones will be refused again. */
export function isDataError(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && /^(22|23|54)\w{3}$/.test(code);
}
