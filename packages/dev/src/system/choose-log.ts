import { Refusal } from '../refusal.ts';

export type LogKind = 'kafka' | 'embedded';

/** `why`: the reason, as people read it after the name of the log. */
export type ChosenLog = { readonly kind: LogKind; readonly why: string };

/** What this machine has. Each is checked only where the choice depends on it. */
export type Machine = {
  /** the environment gives the addresses of Kafka, the registry and Postgres */
  readonly hasServers: () => boolean;
  readonly hasContainerEngine: () => boolean;
  /** Java 17 or later, and Maven */
  readonly hasJava: () => boolean;
};

const automatic = ({ hasServers, hasContainerEngine, hasJava }: Machine): ChosenLog => {
  if (hasServers()) return { kind: 'kafka', why: 'KAFKA_BROKERS names it' };
  if (hasContainerEngine()) return { kind: 'kafka', why: 'a container engine answers' };
  if (hasJava()) return { kind: 'kafka', why: 'Java and Maven are installed' };
  return { kind: 'embedded', why: 'this machine has no container engine, and not both Java 17 and Maven' };
};

/** The log that is asked for, otherwise Kafka where its servers exist or can be started here. */
export const chooseLog = (wanted: LogKind | null, machine: Machine): ChosenLog =>
  wanted === null ? automatic(machine) : { kind: wanted, why: `--${wanted} is given` };

const NAMES: Readonly<Record<LogKind, string>> = { kafka: 'Kafka', embedded: 'one file, without Kafka' };
const OTHER: Readonly<Record<LogKind, LogKind>> = { kafka: 'embedded', embedded: 'kafka' };

/** The line that names the log and the reason. */
export const chosenLine = ({ kind, why }: ChosenLog): string =>
  `log: ${NAMES[kind]}, because ${why} (choose with --${kind} or --${OTHER[kind]})`;

export type StartRequest = { readonly log: LogKind | null; readonly hasDemo: boolean };

const OPTIONS = ['--kafka', '--embedded', '--no-demo'] as const;

export const START_HELP = `npm start [-- OPTIONS]   starts Vigil with its servers and a demonstration fleet, and shows the agents; Ctrl-C stops everything

  --kafka      on Kafka, with its registry and Postgres, by Java or containers
  --embedded   on a log in one file, on Node alone; without either option, what this machine can run
  --no-demo    without the demonstration fleet

Examples:
  npm start -- --embedded
  npm start -- --no-demo
  VIGIL_ALERTS_FILE=$PWD/alerts.yaml npm start      alerts to your channels (docs/channels.md)
  VIGIL_PORT_OFFSET=100 npm start                   beside another Vigil on this machine`;

/** npm itself takes an option without `--` before it, and passes it as a variable. */
const takenByNpm = (env: Readonly<Record<string, string | undefined>>): readonly string[] => [
  ...(env.npm_config_kafka === 'true' ? ['--kafka'] : []),
  ...(env.npm_config_embedded === 'true' ? ['--embedded'] : []),
  ...(env.npm_config_demo === '' || env.npm_config_demo === 'false' ? ['--no-demo'] : []),
];

/** The request of `npm start`. @throws Refusal for an unknown option, and for both logs */
export const startRequestOf = (
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): StartRequest => {
  const unknown = args.find((arg) => !OPTIONS.some((option) => option === arg));
  if (unknown !== undefined)
    throw new Refusal(`npm start takes, after --, the options ${OPTIONS.join(', ')}; ${unknown} is not one of them`);
  const given = new Set([...args, ...takenByNpm(env)]);
  if (given.has('--kafka') && given.has('--embedded'))
    throw new Refusal('--kafka and --embedded exclude each other: give one, or none for an automatic choice');
  const log = given.has('--kafka') ? 'kafka' : given.has('--embedded') ? 'embedded' : null;
  return { log, hasDemo: !given.has('--no-demo') };
};
