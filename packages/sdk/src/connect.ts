import { isId, LONGEST, labelsOf, small, text } from './fields.ts';
import type { Who } from './heartbeat.ts';
import { noAnswer, type Over } from './transport/transport.ts';
import { Vigil } from './vigil.ts';
import type { Word } from './words.ts';
import { realWorld, type World } from './world.ts';

/** Who the agent is, and how it reaches Vigil. Ids: 1 to 128 of the characters A-Z a-z 0-9 . _ : - */
export type Settings = {
  readonly agentId: string;
  readonly taskId?: string | null | undefined;
  /** overGateway, overKafka or overSocket; left out: nobody watches, and all of it works all the same */
  readonly over?: Over | undefined;
  /** a wish; the operators' rules decide */
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
  /** milliseconds; left out: as the policy asks, else 10 s */
  readonly intervalMs?: number | undefined;
  readonly onWord?: ((word: Word) => unknown) | undefined;
  /** problems between agent and Vigil; default: a process warning */
  readonly onProblem?: ((problem: string) => void) | undefined;
};

const warn = (problem: string): void => process.emitWarning(problem, 'VigilWarning');

/** Nobody watches. */
const overNothing: Over = () => ({
  local: false,
  send: async () => noAnswer,
  policy: async () => null,
  close: async () => {},
});

const whoOf = (settings: Settings, world: World): Who => ({
  agentId: settings.agentId,
  instanceId: world.newId(),
  taskId: isId(settings.taskId) ? settings.taskId : null,
  runtimeId: isId(settings.runtimeId) ? settings.runtimeId : null,
  attempt: small(settings.attempt),
  maxAttempts: small(settings.maxAttempts),
  policy: text(settings.policy, LONGEST.name),
  labels: labelsOf({ host: world.host, ...settings.labels }),
});

/** What is wrong with the ids. An agent does not fail because it cannot be watched. */
const idProblems = ({ agentId, taskId, runtimeId }: Settings): readonly string[] =>
  Object.entries({ agentId, taskId, runtimeId }).flatMap(([name, id]) =>
    (id === undefined && name !== 'agentId') || id === null || isId(id)
      ? []
      : [`${name} is ${JSON.stringify(id)}: 1 to 128 of the characters A-Z a-z 0-9 . _ : - are wanted`],
  );

/** With the machine's part given; `connect` is what agents call. */
export const connectIn = (world: World, settings: Settings): Vigil => {
  let last = '';
  const tell = (problem: string): void => {
    if (problem === last) return;
    last = problem;
    try {
      (settings.onProblem ?? warn)(problem);
    } catch {
      // Whoever listens to problems has one of its own: an agent does not fail for that.
    }
  };
  const problems = idProblems(settings);
  const known = isId(settings.agentId);
  for (const problem of problems) tell(known ? problem : `${problem}; nothing is reported`);
  const over = known ? (settings.over ?? overNothing) : overNothing;
  const vigil = new Vigil(whoOf(settings, world), over, small(settings.intervalMs), world, tell);
  if (settings.checkpoints === true) vigil.expectCheckpoints();
  if (settings.onWord !== undefined) vigil.onWord(settings.onWord);
  return vigil;
};

/** From now on the agent beats by itself, until `close`. Does not wait, does not throw. */
export const connect = (settings: Settings): Vigil => connectIn(realWorld(), settings);
