import { createInterface } from 'node:readline/promises';
import type { AgentRow } from '@vigil/read-model';
import type { Command } from 'commander';
import { hooksOf, type RunningSession, runningSessions, type Seen, seenOf } from '../../adopt/sessions.ts';
import type { Client } from '../../client.ts';
import { Refusal } from '../../errors.ts';
import { type Change, changeOf, clientsOf, cloneNote, here, writeHook } from '../../hook/install.ts';
import { agentLines } from '../../render/agents/agents.ts';
import { plain } from '../../render/plain.ts';
import { dashboard, print, show, untilStopped } from '../../terminal.ts';

const keyOf = ({ agentId, instanceId }: AgentRow): string => `${agentId} ${instanceId}`;

const isOf = (clients: readonly string[], { client }: AgentRow): boolean => client !== null && clients.includes(client);

/** A sub-agent has the name of its parent before its own. */
const isSubAgent = ({ agentId }: AgentRow, all: readonly AgentRow[]): boolean =>
  all.some((other) => agentId.startsWith(`${other.agentId}:`));

/** The sessions of these clients that have reported already. */
export const knownSessions = (agents: readonly AgentRow[], clients: readonly string[]): ReadonlySet<string> =>
  new Set(agents.filter((one) => isOf(clients, one)).map(keyOf));

/** A session of these clients that is not among the known ones: a name that is used again is a new session. */
export const firstSession = (
  agents: readonly AgentRow[],
  known: ReadonlySet<string>,
  clients: readonly string[],
): AgentRow | undefined =>
  agents.find((one) => isOf(clients, one) && !known.has(keyOf(one)) && !isSubAgent(one, agents));

type Options = { readonly user?: true; readonly yes?: true; readonly wait: boolean; readonly json?: true };

const LOOK_EVERY_MS = 1000;

const EXAMPLES = `
Finds Claude Code, Codex and Gemini CLI, shows which hooks it would write and into which files, and writes them after a yes.
A session that started before its hook was installed has none until it is started again. "vigil hook install --uninstall" takes the hooks out.

Examples:
  vigil adopt                 for the project in this folder
  vigil adopt --user --yes    for all your sessions, without a question
  vigil adopt --no-wait       do not wait for the first session`;

export const register = (program: Command): void => {
  program
    .command('adopt')
    .description('watch the coding agents of this host: install their hooks, and show the first session')
    .option('--user', 'for all your sessions, not only those of the project in this folder')
    .option('--yes', 'install without a question')
    .option('--no-wait', 'do not wait for the first session')
    .option('--json', 'print as JSON what would be installed, and change nothing')
    .addHelpText('after', EXAMPLES)
    .action(adopt);
};

const REMEDY = 'run vigil adopt in its folder, or with --user, and start it again';

const STATES: Readonly<Record<Seen, string>> = {
  watched: 'is watched',
  restart_for_hook: 'is watched, and must be started again for its hook',
  restart_to_be_seen: 'must be started again to be seen',
  watched_without_hook: `is watched without a hook: ${REMEDY}`,
  unseen_without_hook: `has no hook: ${REMEDY}`,
};

const sessionLine = (session: RunningSession, agents: readonly AgentRow[]): string => {
  const { pid, adapter, cwd } = session;
  const state = STATES[seenOf(session, hooksOf(session), agents)];
  return plain(`  ${adapter.install.title} (process ${pid}${cwd === null ? '' : ` in ${cwd}`}) ${state}`);
};

const NO_LIST = [
  'Which sessions run now cannot be listed: this system has no /proc.',
  'A session that started before its hook was installed must be started again.',
];

const sessionLines = (sessions: readonly RunningSession[] | null, agents: readonly AgentRow[]): readonly string[] => {
  if (sessions === null) return ['', ...NO_LIST];
  if (sessions.length === 0) return [];
  return ['', 'Sessions that run now:', ...sessions.map((session) => sessionLine(session, agents))];
};

/** For programs; of a session's environment nothing. */
const sessionJson = (session: RunningSession): object => ({
  pid: session.pid,
  client: session.adapter.install.title,
  cwd: session.cwd,
  seen: seenOf(session, hooksOf(session), []),
});

/** For people and programs. */
const plannedHook = ({ adapter: { install, hooks }, file, before, after }: Change) => ({
  title: install.title,
  file,
  events: hooks.events.length,
  isCurrent: after === before,
});

const isYes = async (question: string): Promise<boolean> => {
  if (!process.stdin.isTTY)
    throw new Refusal(
      'vigil adopt asks a question on a terminal, and stdin is not one; run `vigil adopt --yes` to install without it',
    );
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question(question).finally(() => terminal.close());
  return /^y(es)?$/i.test(answer.trim());
};

const adopt = async ({ user, yes, wait, json }: Options): Promise<void> => {
  const scope = user ? 'user' : 'project';
  const adapters = clientsOf([], here());
  const planned = adapters.map((adapter) => plannedHook(changeOf(adapter, scope)));
  if (json) {
    const sessions = runningSessions()?.map(sessionJson) ?? null;
    return show(true, { hooks: planned, sessions }, () => []);
  }
  print(
    planned.map(({ title, file, events, isCurrent }) =>
      plain(`${title}: ${isCurrent ? 'has its hook in' : `${events} events would be reported; writes`} ${file}`),
    ),
  );
  if (planned.some(({ isCurrent }) => !isCurrent)) {
    if (!yes && !(await isYes('Install these hooks? [y/N] '))) return print(['nothing is installed']);
    const changes = adapters.map((adapter) => changeOf(adapter, scope));
    for (const change of changes) if (change.after !== change.before) print(writeHook(change));
    print([cloneNote()]);
  }
  const agents = wait ? await agentsOf(dashboard()) : [];
  print([
    ...sessionLines(runningSessions(), agents),
    '',
    'A session is watched when it starts under `vigil run -- …`, or with VIGIL_GATEWAY_URL and VIGIL_GATEWAY_TOKEN in its environment.',
  ]);
  const clients = adapters.map(({ name }) => name);
  if (wait) await showFirst(dashboard(), knownSessions(agents, clients), clients);
};

/** Shows the first session of these clients that appears from now on. */
const showFirst = async (dashboard: Client, known: ReadonlySet<string>, clients: readonly string[]): Promise<void> => {
  print(['Waiting for the first session (Ctrl-C ends the wait) …']);
  const stop = untilStopped();
  while (!stop.aborted) {
    const first = firstSession(await agentsOf(dashboard), known, clients);
    if (first !== undefined) return show(false, first, (row, view) => agentLines(view, row, true));
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
};

const agentsOf = async (client: Client): Promise<readonly AgentRow[]> =>
  (await client.get<{ agents: readonly AgentRow[] }>('/v1/agents')).agents;
