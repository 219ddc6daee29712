import type { HealthState } from '@vigil/events';
import type { AgentRow, FleetRow, Knowledge, RecoveryOptions } from '@vigil/read-model';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Client } from '../../client.ts';
import { CannotProceed, NoAnswer, UnknownName } from '../../errors.ts';
import { awaySince } from '../../parts.ts';
import { agentJson, agentLines, agentsTable, byUrgency, waitingTable } from '../../render/agents/agents.ts';
import { optionLines, optionsJson } from '../../render/agents/options.ts';
import { fleetLines } from '../../render/fleet/fleet.ts';
import { isCurrent, knowledgeLines } from '../../render/knowledge.ts';
import { jsonText, plain } from '../../render/plain.ts';
import { clockTime, heightOf, type View } from '../../render/view.ts';
import { dashboardView, endBlind, endUnwell, print, reportAge, show, view } from '../../terminal.ts';
import { watch } from '../../watch/watch.ts';
import { path } from '../control/options.ts';
import { type Labels, labelOption } from './selection.ts';

type Options = {
  filter?: 'unhealthy' | 'waiting';
  state?: string;
  task?: string;
  policy?: string;
  host?: string;
  runtime?: string;
  label?: Labels;
  all?: boolean;
  quiet?: boolean;
  watch?: boolean;
  json?: boolean;
};

const EXAMPLES = `
Ends with 1 if an agent that is shown is unhealthy, or no task, policy, host or runtime has the given name. Ends with 2 if Vigil cannot be reached or is blind. States are old then,
and shown as "was HEALTHY". Unhealthy means that a person should look. An agent that has finished, was ended on request,
or whose task a later agent has, is not unhealthy.

Examples:
  vigil health                       every agent: what needs a person first, then unhealthy ones
  vigil health worker-1 --json       { "agent": "worker-1", "status": "healthy", "last_output": "…", "errors": [], … }
                                     an agent that is not healthy has its "options": the next step, decisions, checkpoint
  vigil health --filter unhealthy    what needs a look
  vigil health --filter waiting      who waits for a person, the longest first, with what is asked
  vigil health --policy coditect     agents that a policy judges; --task and --state work alike
  vigil health --host build-7        agents on this host; --runtime works alike
  vigil health --state stuck -q      the names alone, for scripts
  vigil health --label team=core     agents with this label; repeat it for several
  vigil health --watch               the fleet and its story: arrows move, Enter explains an agent, / finds, q ends`;

const KNOWN: Readonly<Record<HealthState, true>> = {
  UNKNOWN: true,
  HEALTHY: true,
  DEGRADED: true,
  STUCK: true,
  FAILING: true,
  TERMINATED: true,
};
const STATES = Object.keys(KNOWN);

const stateOption = (text: string): string => {
  const state = text.toUpperCase();
  if (STATES.includes(state)) return state;
  throw new InvalidArgumentError(`Give one of ${STATES.join(', ')}.`);
};

const isAskedFor = (agent: AgentRow, { policy, host, runtime, label = {} }: Options): boolean =>
  (policy === undefined || agent.policyName === policy) &&
  (host === undefined || agent.host === host) &&
  (runtime === undefined || agent.runtimeId === runtime) &&
  Object.entries(label).every(([name, value]) => agent.labels[name] === value);

export const register = (program: Command): void => {
  program
    .command('health [agent]')
    .description('the state of every agent')
    .addOption(new Option('--filter <which>', 'only those').choices(['unhealthy', 'waiting']))
    .addOption(new Option('--state <state>', 'only agents in this state').choices(STATES).argParser(stateOption))
    .option('--task <task>', 'only agents on this task')
    .option('--policy <name>', 'only agents that this policy judges')
    .option('--host <host>', 'only agents that are, or were last, on this host')
    .option('--runtime <runtime>', 'only agents of this runtime')
    .option('--label <name=value>', 'only agents with this label', labelOption)
    .option('-q, --quiet', 'only the names, one a line')
    .option('--all', 'every agent, also more than the terminal has lines')
    .option('--watch', 'a screen that follows the fleet: scroll, find, open an agent; q ends it')
    .option('--json', 'for programs')
    .addHelpText('after', EXAMPLES)
    .action(health);
};

/** A view shows that it is blind within five seconds, and the missing answer has taken most of them. */
const BEGINNING_LIMIT_MS = 500;

/** With the beginning of its absence, where that is known without it. */
const withBeginning = async (error: NoAnswer): Promise<NoAnswer> => {
  const since = await awaySince('dashboard', process.env, BEGINNING_LIMIT_MS);
  return since === null ? error : new NoAnswer(error.why, `BLIND since ${clockTime(view(), since)}`);
};

const health = (agentId: string | undefined, options: Options): Promise<void> =>
  showHealth(agentId, options).catch(async (error: unknown) => {
    throw error instanceof NoAnswer ? await withBeginning(error) : error;
  });

const showHealth = async (agentId: string | undefined, options: Options): Promise<void> => {
  const client = dashboardView();
  const { filter, state, task, all } = options;
  if (options.quiet && (options.json || options.watch || agentId !== undefined))
    throw new CannotProceed('--quiet prints the names of a list: leave out the agent, --json and --watch.');
  if (options.watch) {
    if (options.json)
      throw new CannotProceed('--watch shows people a screen, --json is for programs: give one of them.');
    return watch(
      client,
      { query: { filter, state, task }, includes: (one) => isAskedFor(one, options) },
      agentId ?? null,
    );
  }
  if (agentId !== undefined) return one(client, await client.get<OneAgent>(path('agents', agentId)), options);
  const [found, fleet] = await Promise.all([
    client.get<{ agents: readonly AgentRow[] }>('/v1/agents', { filter, state, task }),
    client.get<Fleet>('/v1/fleet'),
  ]);
  const agents = found.agents.filter((agent) => isAskedFor(agent, options));
  if (agents.length === 0) await requireNames(client, options);
  const table: Lines<readonly AgentRow[]> =
    filter === 'waiting'
      ? waitingTable
      : (screen, shown, isNow, left) => agentsTable(screen, shown, isNow, all ? Number.POSITIVE_INFINITY : left);
  if (options.quiet) {
    reportAge(fleet.knowledge);
    print(byUrgency(agents).map((agent) => plain(agent.agentId)));
  } else if (options.json) print([jsonText(agents.map((agent) => agentJson(view(), agent, fleet.knowledge)))]);
  else showWithFleet(fleet, agents, table);
  endBy(fleet, agents);
};

/** Throws UnknownName where nothing has a given name: a script would read an empty table as "all is well". */
const requireNames = async (client: Client, { task, policy, host, runtime }: Options): Promise<void> => {
  if (task !== undefined) await client.get<unknown>(path('tasks', task));
  if (policy !== undefined) await client.get<unknown>(path('policies', policy));
  if (host === undefined && runtime === undefined) return;
  const { agents } = await client.get<{ agents: readonly AgentRow[] }>('/v1/agents');
  if (host !== undefined && !agents.some((agent) => agent.host === host)) throw unknownName('host', host);
  if (runtime !== undefined && !agents.some(({ runtimeId }) => runtimeId === runtime))
    throw unknownName('runtime', runtime);
};

const unknownName = (kind: string, name: string): UnknownName =>
  new UnknownName(kind, `${kind} ${JSON.stringify(name)} does not exist; list them with \`vigil health --json\``);

/** `options` is missing in the answer of an older dashboard. */
type OneAgent = AgentRow & { readonly options?: RecoveryOptions | null };

const one = async (client: Client, agent: OneAgent, { json }: Options): Promise<void> => {
  const fleet = await client.get<Fleet>('/v1/fleet');
  const inJson = () => agentJson(view(), agent, fleet.knowledge);
  if (json) print([jsonText({ ...inJson(), options: optionsJson(agent.options ?? null) })]);
  else showWithFleet(fleet, agent, oneLines);
  endBy(fleet, [agent]);
};

/** Scripts read the exit code, so states that may have changed do not count as an answer. */
const endBy = ({ knowledge }: Fleet, agents: readonly AgentRow[]): void => {
  if (!isCurrent(knowledge)) endBlind();
  else if (agents.some(({ unhealthy }) => unhealthy)) endUnwell();
};

const oneLines = (screen: View, agent: OneAgent, isNow: boolean): readonly string[] => [
  ...agentLines(screen, agent, isNow),
  ...optionLines(screen, agent.agentId, agent.options ?? null),
];

type Fleet = { readonly fleet: FleetRow; readonly knowledge: Knowledge };
/** `left`: how many lines of the terminal are left below what stands above. */
type Lines<T> = (view: View, shown: T, isNow: boolean, left: number) => readonly string[];

/** Of the terminal, below these lines and above the prompt of the shell. */
const linesBelow = (screen: View, head: readonly string[]): number =>
  process.stdout.isTTY ? process.stdout.rows - heightOf(screen, head) - 1 : Number.POSITIVE_INFINITY;

const showWithFleet = <T>({ fleet, knowledge }: Fleet, shown: T, lines: Lines<T>): void =>
  show(false, { fleet, knowledge, shown }, (plain, screen) => {
    const head = [...fleetLines(screen, plain.fleet), ...knowledgeLines(screen, plain.knowledge)];
    return [...head, ...lines(screen, plain.shown, isCurrent(plain.knowledge), linesBelow(screen, head))];
  });
