import { join } from 'node:path';
import {
  createTerminalFilter,
  openView,
  restartAgent,
  runsHere,
  stopAgent,
  TERMINAL_RESET,
  type View,
  type ViewEnd,
  WrongSettings,
} from '@vigil/supervisor';
import type { Command } from 'commander';
import { Refusal } from '../../errors.ts';
import { type HereOptions, stateDirOf, withStateDir } from '../../supervising.ts';
import { type Json, show, whoAmI } from '../../terminal.ts';
import { type WriteOptions, withWriteOptions, write } from '../control/options.ts';
import { unwatchedByLog } from './run-reach.ts';
import { length } from './run-spec.ts';

type AttachOptions = HereOptions & { readonly write?: boolean; readonly raw?: boolean };

const DETACH_KEY = 0x1d;
const CTRL_C = 0x03;

const print = (line: string): void => void process.stderr.write(`vigil: ${line}\r\n`);

/** Until a key. Gives what undoes it. */
const listen = (view: View, writes: boolean, leave: () => void): (() => void) => {
  const { stdin, stdout } = process;
  const raw = stdin.isTTY === true;
  const onData = (keys: Buffer): void => {
    const end = raw ? keys.findIndex((key) => key === DETACH_KEY || (key === CTRL_C && !writes)) : -1;
    const typed = end < 0 ? keys : keys.subarray(0, end);
    if (writes && typed.length > 0) view.type(typed);
    if (end >= 0) leave();
  };
  const onResize = (): void => view.resize({ columns: stdout.columns, rows: stdout.rows });
  if (raw) stdin.setRawMode(true);
  if (raw || writes) stdin.on('data', onData);
  if (writes && stdout.isTTY) {
    onResize();
    stdout.on('resize', onResize);
  }
  return () => {
    stdin.off('data', onData);
    stdout.off('resize', onResize);
    if (raw) stdin.setRawMode(false);
    if (stdout.isTTY) stdout.write(TERMINAL_RESET);
    stdin.pause();
    stdin.unref?.();
  };
};

const last = (agent: string, over: ViewEnd | null): string => {
  if (over === null) return `detached from ${agent}, which works on`;
  switch (over.kind) {
    case 'ended':
      return `${agent} has ended: ${over.how}`;
    case 'too_slow':
      throw new Refusal(`${agent} prints faster than is read here: ${over.bytes} bytes are gone; attach again`);
    case 'gone':
      throw new Refusal(`the process that holds the terminal of ${agent} has gone`);
  }
};

const attach = async (agent: string, options: AttachOptions): Promise<void> => {
  const { stdout } = process;
  const writes = options.write === true;
  let view: View | null = null;
  const filtered = options.raw === true ? (data: Buffer) => data : createTerminalFilter();
  const output = (data: Buffer): void => {
    if (stdout.write(filtered(data))) return;
    view?.pause();
    stdout.once('drain', () => view?.resume());
  };
  const dir = stateDirOf(options, agent, runsHere);
  view = await openView(dir, agent, { who: whoAmI(), writes }, output);
  const keys = writes ? 'your keys reach it' : 'read-only';
  const unwatched = unwatchedByLog(join(dir, 'logs', `${agent}.log`));
  if (unwatched !== null) print(unwatched);
  print(`attached to ${agent} (process ${view.pid}), ${keys}; Ctrl-] detaches`);
  const { promise: left, resolve: leave } = Promise.withResolvers<null>();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => leave(null));
  stdout.once('error', () => leave(null));
  const undo = listen(view, writes, () => leave(null));
  const over = await Promise.race([view.over, left]);
  undo();
  await view.leave();
  print(last(agent, over));
};

const ATTACH_EXAMPLES = `
The last output is shown, then what comes. Several may attach at once; none of them can hold the agent up.
Agents in the foreground of a \`vigil run\` have their own terminal.

Examples:
  vigil attach worker-1                look on
  vigil attach worker-1 --write        type, too: its supervisor's log has your name, and how much you type
  vigil attach worker-1 --raw          with what the agent writes to your clipboard and asks your terminal
  vigil attach worker-1 < /dev/null | tee worker-1.out`;

type StopOptions = Json & HereOptions & { readonly grace?: number };

const GRACE_MS = 5000;

const stop = async (agent: string, { grace = GRACE_MS, json, ...options }: StopOptions): Promise<void> => {
  const how = await stopAgent(stateDirOf(options, agent, runsHere), agent, whoAmI(), grace);
  show(json, { agent, how }, () => [`${agent} has ended: ${how}`]);
};

const STOP_EXAMPLES = `
It is asked on its socket, receives SIGTERM after the grace and SIGKILL 5 s later; its end is reported as requested, so nothing takes
its place. An end that Vigil is to decide and replace: vigil recover.

Example:
  vigil stop worker-1 --grace 30s`;

type RestartOptions = StopOptions & WriteOptions;

const restart = async (agent: string, options: RestartOptions): Promise<void> => {
  const { grace, json } = options;
  const dir = stateDirOf(options, agent, runsHere);
  if (!runsHere(dir, agent)) return restartElsewhere(agent, options);
  const pid = await restartAgent(dir, agent, whoAmI(), grace ?? GRACE_MS);
  show(json, { agent, pid }, () => [`${agent} runs again: process ${pid}`]);
};

/** An order to its runtime, through the dashboard. */
const restartElsewhere = async (agent: string, options: RestartOptions): Promise<void> => {
  if (options.grace !== undefined)
    throw new Refusal(
      `${agent} does not run on this host, and its runtime waits 30 s for it to end: leave out --grace`,
    );
  const request = { requested: `a restart of ${agent} by its runtime`, outcome: `vigil explain ${agent}` };
  await write({ kind: 'request_step', agentId: agent, step: 'restart' }, request, options);
};

const RESTART_EXAMPLES = `
It ends the agent as vigil stop does, and starts the same command in the same folder as a new instance: with the task and the
environment that it had, and not from a checkpoint. To continue from one: vigil recover.
An agent that does not run on this host is restarted by its runtime: Vigil orders it, records the order with your name and reason,
and this command waits until the agent has ended. That needs the role operator; nothing is restarted while the fleet is halted.

Examples:
  vigil restart worker-1 --grace 30s
  vigil restart worker-2 --why "its shell hangs"`;

const orRefusal =
  <Options>(act: (agent: string, options: Options) => Promise<void>) =>
  async (agent: string, options: Options): Promise<void> => {
    try {
      await act(agent, options);
    } catch (error) {
      if (error instanceof WrongSettings) throw new Refusal(error.message);
      throw error;
    }
  };

export const register = (program: Command): void => {
  const attaching = program
    .command('attach <agent>')
    .description("an agent's live terminal on this host; Ctrl-] detaches")
    .option('--write', 'also type, and set the size')
    .option(
      '--raw',
      'pass on every terminal sequence of the agent; without it clipboard access, links and queries are removed',
    )
    .addHelpText('after', ATTACH_EXAMPLES);
  withStateDir(attaching).action(orRefusal(attach));
  const stopping = program
    .command('stop <agent>')
    .description('end an agent of this host, and wait until its end is reported')
    .option('--grace <duration>', 'the time for a voluntary exit, 5s by default', length)
    .option('--json', 'for programs')
    .addHelpText('after', STOP_EXAMPLES);
  withStateDir(stopping).action(orRefusal(stop));
  const restarting = program
    .command('restart <agent>')
    .description('end an agent, and start its command again where it ran')
    .option('--grace <duration>', 'the time for a voluntary exit on this host, 5s by default', length)
    .addHelpText('after', RESTART_EXAMPLES);
  withStateDir(withWriteOptions(restarting)).action(orRefusal(restart));
};
