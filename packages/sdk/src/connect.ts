import type { Command } from './commands.ts';
import { isId, LONGEST, labelsOf, small, text } from './report/fields.ts';
import type { AgentIdentity } from './report/notes.ts';
import { realSystem, type SystemDeps } from './system.ts';
import { overGateway } from './transport/gateway.ts';
import { overKafka } from './transport/kafka.ts';
import { overSocket } from './transport/socket.ts';
import { noAnswer, type OpenTransport } from './transport/transport.ts';
import { Vigil } from './vigil.ts';

/** The agent's identity, and how it reaches Vigil. Ids: 1 to 128 of the characters A-Z a-z 0-9 . _ : -, the first a letter or digit. */
export type Settings = {
  readonly agentId: string;
  readonly taskId?: string | null | undefined;
  /** overGateway, overKafka or overSocket. Without it nothing is reported, and everything else works */
  readonly over?: OpenTransport | undefined;
  /** the policy that the agent requests; the operators' rules decide */
  readonly policy?: string | undefined;
  /** team, model, graph …; `host` is filled in */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** the runtime that can end it, where there is one */
  readonly runtimeId?: string | undefined;
  /** which recovery attempt this is, and of how many */
  readonly attempt?: number | undefined;
  readonly maxAttempts?: number | undefined;
  /** it will report checkpoints: their age counts from now on */
  readonly checkpoints?: boolean | undefined;
  /** milliseconds; default: the policy's interval, else 10 s */
  readonly intervalMs?: number | undefined;
  readonly onCommand?: ((command: Command) => unknown) | undefined;
  /** problems between agent and Vigil; default: a process warning */
  readonly onProblem?: ((problem: string) => void) | undefined;
};

const warn = (problem: string): void => process.emitWarning(problem, 'VigilWarning');

/** Sends nothing. */
const overNothing: OpenTransport = () => ({
  local: false,
  send: async () => noAnswer,
  policy: async () => null,
  close: async () => {},
});

const identityOf = (settings: Settings, system: SystemDeps): AgentIdentity => ({
  agentId: settings.agentId,
  instanceId: system.newId(),
  taskId: isId(settings.taskId) ? settings.taskId : null,
  runtimeId: isId(settings.runtimeId) ? settings.runtimeId : null,
  attempt: small(settings.attempt),
  maxAttempts: small(settings.maxAttempts),
  policy: text(settings.policy, LONGEST.name),
  labels: labelsOf({ host: system.host, ...settings.labels }),
});

/** What is wrong with the ids. An agent does not fail because it cannot be watched. */
const idProblems = ({ agentId, taskId, runtimeId }: Settings): readonly string[] =>
  Object.entries({ agentId, taskId, runtimeId }).flatMap(([name, id]) =>
    (id === undefined && name !== 'agentId') || id === null || isId(id)
      ? []
      : [
          `${name} is ${JSON.stringify(id)}: use 1 to 128 of the characters A-Z a-z 0-9 . _ : -; the first is a letter or digit`,
        ],
  );

/** `connect` with its system dependencies as an argument, for tests. */
export const connectIn = (system: SystemDeps, settings: Settings): Vigil => {
  let last = '';
  const reportProblem = (problem: string): void => {
    if (problem === last) return;
    last = problem;
    try {
      (settings.onProblem ?? warn)(problem);
    } catch {
      // An agent does not fail because its own problem listener throws.
    }
  };
  const problems = idProblems(settings);
  const known = isId(settings.agentId);
  for (const problem of problems) reportProblem(known ? problem : `${problem}; nothing is reported`);
  const over = known ? (settings.over ?? overNothing) : overNothing;
  const vigil = new Vigil(identityOf(settings, system), over, small(settings.intervalMs), system, reportProblem);
  if (settings.checkpoints === true) vigil.expectCheckpoints();
  if (settings.onCommand !== undefined) vigil.onCommand(settings.onCommand);
  return vigil;
};

/** Connects the agent. It sends heartbeats by itself until `close`. Does not wait and does not throw. */
export const connect = (settings: Settings): Vigil => connectIn(realSystem(), settings);

/** The variables that fromEnvironment reads, as docs/configuration.md describes them. */
export const SDK_VARIABLES = {
  VIGIL_SOCKET: { values: 'path', description: 'The socket of the supervisor, which sends the heartbeats.' },
  VIGIL_GATEWAY_URL: {
    values: 'HTTP address',
    description: 'The gateway to report to if no supervisor started the agent.',
  },
  VIGIL_GATEWAY_TOKEN: { values: 'text', isSecret: true, description: 'The token of the agent or runtime.' },
  VIGIL_GATEWAY_TOKEN_FILE: {
    values: 'file',
    description: 'Holds that token, and gets each renewed token; other users may not read it.',
  },
  VIGIL_AGENT_ID: { values: 'id', description: 'The id of the agent.' },
  VIGIL_TASK_ID: { values: 'id', description: 'The task of the agent.' },
  VIGIL_ATTEMPT: { values: 'whole number', description: 'Which attempt at a recovery this is.' },
} as const;

type Environment = Readonly<Record<string, string | undefined>>;

const wayOf = (env: Environment): OpenTransport | undefined => {
  const { VIGIL_SOCKET, VIGIL_GATEWAY_URL: url, KAFKA_BROKERS: brokers } = env;
  const { VIGIL_GATEWAY_TOKEN: token = '', VIGIL_GATEWAY_TOKEN_FILE: tokenFile } = env;
  if (VIGIL_SOCKET) return overSocket(VIGIL_SOCKET);
  if (url) return overGateway(tokenFile ? { url, tokenFile } : { url, token });
  if (!brokers) return undefined;
  return overKafka({ brokers: brokers.split(','), registryUrl: env.SCHEMA_REGISTRY_URL || undefined, env });
};

/**
 * The agent and the transport that the environment names, for `connect({ ...fromEnvironment(), … })`: VIGIL_AGENT_ID,
 * VIGIL_TASK_ID, VIGIL_ATTEMPT; VIGIL_SOCKET (under `vigil run`), else VIGIL_GATEWAY_URL and VIGIL_GATEWAY_TOKEN_FILE
 * or VIGIL_GATEWAY_TOKEN, else KAFKA_BROKERS and SCHEMA_REGISTRY_URL. Variables of authentication count for both.
 * A setting that the environment does not name is absent and overrides nothing.
 */
export const fromEnvironment = (env: Environment = process.env): Partial<Settings> => {
  const over = wayOf(env);
  return {
    ...(env.VIGIL_AGENT_ID ? { agentId: env.VIGIL_AGENT_ID } : {}),
    ...(env.VIGIL_TASK_ID ? { taskId: env.VIGIL_TASK_ID } : {}),
    ...(env.VIGIL_ATTEMPT ? { attempt: Number(env.VIGIL_ATTEMPT) } : {}),
    ...(over === undefined ? {} : { over }),
  };
};
