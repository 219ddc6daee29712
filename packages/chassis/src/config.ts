import { LEAST_PROOF_KEY, REGISTRY_AUTH_SETTINGS } from '@vigil/events';
import { KAFKA_ACCESS_SETTINGS } from '@vigil/stream';
import { Refused } from '@vigil/stream/errors';
import { z } from 'zod';

/** What a process was started with, as Node gives it. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * What docs/configuration.md has of a variable, given to its zod type with `.meta`. `values`: which texts it takes,
 * where its type does not show them. `unit`: of a number. `default`: in words, where it depends on the machine.
 * `isSecret`: give it to the processes that need it and to no other.
 */
export type SettingMeta = {
  readonly description: string;
  readonly values?: string;
  readonly unit?: string;
  readonly default?: string;
  readonly isSecret?: boolean;
};

/** The limits of a token, such as `VIGIL_TOKEN_AGENTS`, are not secret. */
const SECRET_NAME = /^(?!VIGIL_(?:TOKEN_)).*(TOKEN|PASSWORD|SECRET|_KEY|WEBHOOK|DEADMAN)/i;

/**
 * Reads variables once, typed: `schema` is an object of one zod type a variable, whose error message is the remedy. A
 * `.transform` after it may give them another shape. An empty variable counts as not set. Throws Refused with every
 * problem in one message.
 */
export const readConfig = <Schema extends z.ZodType>(schema: Schema, env: Environment): z.output<Schema> => {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const read = schema.safeParse(given);
  if (read.success) return read.data;
  const problems = new Set(read.error.issues.map(({ path, message }) => describe(String(path[0]), given, message)));
  throw new Refused(`The environment cannot be used (${problems.size} of its variables):\n${[...problems].join('\n')}`);
};

const describe = (variable: string, env: Environment, remedy: string): string => {
  const value = env[variable];
  return `  ${variable} ${value === undefined ? 'is not set' : `is ${shown(variable, value)}`}: ${remedy}`;
};

/** A value as it may appear in a message: secrets never do, and neither does anything before the @ of an address. */
const shown = (variable: string, value: string): string => {
  if (SECRET_NAME.test(variable)) return '(a secret, not shown)';
  if (/@/.test(value)) return JSON.stringify(value.replace(/^([a-z]+:\/\/)?.*@/is, '$1…@'));
  return JSON.stringify(value);
};

const ADDRESS = /^[^\s:,/@]+:\d{1,5}$/;

const SERVERS = 'or start everything with `npm start`, which sets it';
const REGISTRY_REMEDY = `give the address of the schema registry's Confluent API, such as http://127.0.0.1:8081/apis/ccompat/v7, ${SERVERS}`;

/** A whole number within limits, both included, as variables spell it. */
export const whole = (from: number, to: number): z.ZodPipe<z.ZodString, z.ZodTransform<number, string>> =>
  z
    .string(`give a whole number from ${from} to ${to}`)
    .refine(
      (text) => /^\d{1,15}$/.test(text) && Number(text) >= from && Number(text) <= to,
      `give a whole number from ${from} to ${to}`,
    )
    .transform(Number)
    .meta({ values: `whole number, ${from} to ${to}` });

/** The address of an HTTP server, with or without a path. */
export const httpUrl = (remedy: string): z.ZodURL =>
  z.url({ protocol: /^https?$/, error: remedy }).meta({ values: 'HTTP address' });

/** A secret that callers must show: never printed, at least 16 characters. */
export const token = (remedy: string): z.ZodString =>
  z
    .string(remedy)
    .min(16, `${remedy} (at least 16 characters)`)
    .meta({ values: 'text, at least 16 characters', isSecret: true });

/** `VIGIL_PROOF_KEY`, by which heartbeat-ingest recognises what the gateway has accepted. */
export const proofKey: z.ZodString = z
  .string()
  .min(
    LEAST_PROOF_KEY,
    `give the key of proofs: the same random text of at least ${LEAST_PROOF_KEY} characters for gateway and heartbeat-ingest`,
  )
  .meta({
    values: `text, at least ${LEAST_PROOF_KEY} characters`,
    isSecret: true,
    description:
      'The gateway signs accepted heartbeats with it, and heartbeat-ingest verifies them; without it no heartbeat is verified.',
  });

/** `VIGIL_DEFAULT_POLICY`, which evaluator and gateway share. */
export const defaultPolicy: z.ZodDefault<z.ZodString> = z.string().default('vigil').meta({
  values: 'name of a policy',
  description: 'The policy of agents that request no permitted one, where there is no `assign.yaml`.',
});

/** Variables that another package reads together, because it has to refuse half of them. */
const texts = <Name extends string>(
  settings: Readonly<Record<Name, SettingMeta>>,
): Readonly<Record<Name, z.ZodOptional<z.ZodString>>> =>
  Object.fromEntries(
    Object.entries<SettingMeta>(settings).map(([name, meta]) => [name, z.string().optional().meta(meta)]),
  ) as Record<Name, z.ZodOptional<z.ZodString>>;

/** Where the log is: in a file of this machine, or on Kafka with its registry. */
const logVariables = {
  VIGIL_LOG_FILE: z
    .string()
    .optional()
    .meta({ values: 'file', description: 'The log of one machine, instead of `KAFKA_BROKERS`.' }),
  KAFKA_BROKERS: z
    .string()
    .transform((text) => text.split(',').map((broker) => broker.trim()))
    .refine(
      (brokers) => brokers.every((broker) => ADDRESS.test(broker)),
      'give host:port[,host:port…] of the Kafka brokers',
    )
    .optional()
    .meta({
      values: '`host:port`, with commas between',
      description: 'The brokers of Kafka; required unless `VIGIL_LOG_FILE` is set.',
    }),
  SCHEMA_REGISTRY_URL: httpUrl(REGISTRY_REMEDY).optional().meta({
    description: 'The Confluent API of the schema registry; required with `KAFKA_BROKERS`.',
  }),
  VIGIL_PARTITIONS: whole(1, 1024).default(4).meta({
    description: 'Partitions of the agent and task key spaces, the same for all services; chosen once.',
  }),
  ...texts(KAFKA_ACCESS_SETTINGS),
  ...texts(REGISTRY_AUTH_SETTINGS),
};

const isSet = (value: unknown, name: 'VIGIL_LOG_FILE' | 'KAFKA_BROKERS' | 'SCHEMA_REGISTRY_URL'): boolean =>
  typeof value === 'object' && value !== null && (value as Readonly<Record<string, unknown>>)[name] !== undefined;

/**
 * The variables of a process that reads or writes topics, and its own ones. Exactly one log is given: the file of
 * VIGIL_LOG_FILE, or KAFKA_BROKERS with SCHEMA_REGISTRY_URL.
 */
export const logSettings = <Shape extends z.ZodRawShape>(own: Shape) =>
  z.object({ ...logVariables, ...own }).check(
    z.refine((env) => !(isSet(env, 'VIGIL_LOG_FILE') && isSet(env, 'KAFKA_BROKERS')), {
      path: ['VIGIL_LOG_FILE'],
      error: 'KAFKA_BROKERS is set too: unset one of them, because a process uses one log',
      when: () => true,
    }),
    z.refine((env) => isSet(env, 'VIGIL_LOG_FILE') || isSet(env, 'KAFKA_BROKERS'), {
      path: ['KAFKA_BROKERS'],
      error: `give host:port[,host:port…] of the Kafka brokers, set VIGIL_LOG_FILE to a file of this machine, ${SERVERS}`,
      when: () => true,
    }),
    z.refine((env) => isSet(env, 'VIGIL_LOG_FILE') || isSet(env, 'SCHEMA_REGISTRY_URL'), {
      path: ['SCHEMA_REGISTRY_URL'],
      error: REGISTRY_REMEDY,
      when: () => true,
    }),
  );

/** Variables of each process that reads or writes the read model. */
export const databaseSettings = {
  DATABASE_URL: z
    .url({
      protocol: /^postgres(ql)?$/,
      error: `give the address of Postgres, such as postgres://user:password@127.0.0.1:5432/vigil, ${SERVERS}`,
    })
    .meta({
      values: 'Postgres address',
      isSecret: true,
      description: 'The database of the read model; the address may contain the password.',
    }),
  DATABASE_PASSWORD_FILE: z
    .string()
    .optional()
    .meta({ values: 'file', description: 'Holds the password of `DATABASE_URL`, which then has none.' }),
};

const PROBES = 'give service=http://host:port[,service=…]: the probes of the services, or leave it out';

const namedPair = (pair: string): [string, string] => {
  const at = pair.indexOf('=');
  return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
};

/** Where each service answers /ready. */
export const probeSettings = {
  VIGIL_PROBES: z
    .string()
    .default('')
    .transform((text) => text.split(',').filter(Boolean).map(namedPair))
    .pipe(z.array(z.tuple([z.string().min(1, PROBES), httpUrl(PROBES)])))
    .meta({
      values: '`service=http://host:port`, with commas between',
      description: 'Where each service answers `/ready`; without it the readiness of services is not checked.',
    }),
};

/** Variables of every process; read by runService. */
export const chassisSettings = {
  VIGIL_PROBE_HOST: z
    .string()
    .default('127.0.0.1')
    .meta({ values: 'host', description: 'Where the service listens for `/live`, `/ready` and `/metrics`.' }),
  VIGIL_PROBE_PORT: whole(0, 65535)
    .default(0)
    .meta({ description: 'The port of these probes; 0 is any free port, which the log names.' }),
  VIGIL_LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
      error: 'give one of trace, debug, info, warn, error, fatal, silent',
    })
    .default('info')
    .meta({ description: 'The least level of log lines that are written.' }),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl('give the address of an OTLP collector over HTTP, or leave it out')
    .optional()
    .meta({ description: 'The OTLP collector that receives traces; without it there are none.' }),
};
