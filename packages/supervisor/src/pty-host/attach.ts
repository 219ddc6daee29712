import { existsSync } from 'node:fs';
import { nearest } from '@vigil/policy';
import { pause } from '../clock.ts';
import { WrongSettings } from '../errors.ts';
import { describeExit, leaveStopMarker, takeStopMarker } from '../exit/exit-reason.ts';
import { isAlive, signalled } from '../process/proc.ts';
import { checkName, namesIn, type Occupant, occupantOf } from '../state/lock.ts';
import type { Size } from '../terminal/terminal.ts';
import { connectPtyHost, type Link, PtyHostRefused } from './hosted-terminal.ts';
import type { FromPtyHost, Viewer } from './protocol.ts';
import { ptyHostSocket } from './start.ts';

/** Bytes of output that a new viewer is shown first. */
const SHOWN_BYTES = 1 << 14;
const LOOK_EVERY_MS = 50;
/** From the end of an agent until its name is free: its clean-up, its release. */
const FAREWELL_MS = 90_000;

/** Why there is nothing more to see. */
export type ViewEnd =
  | { readonly kind: 'ended'; readonly how: string }
  /** so many bytes came faster than they were read */
  | { readonly kind: 'too_slow'; readonly bytes: number }
  | { readonly kind: 'gone' };

/** An agent's terminal, as a viewer sees it. */
export type View = {
  readonly pid: number;
  readonly size: Size;
  readonly over: Promise<ViewEnd>;
  readonly type: (keys: Buffer) => void;
  readonly resize: (size: Size) => void;
  readonly pause: () => void;
  readonly resume: () => void;
  readonly leave: () => Promise<void>;
};

/** The name that was probably meant, else a few of those that are there. */
const otherNames = (dir: string, agentId: string): string => {
  const names = existsSync(dir) ? namesIn(dir) : [];
  const near = nearest(agentId, names);
  if (near !== null) return `did you mean ${near}? Otherwise `;
  return names.length === 0 ? '' : `there are ${names.slice(0, 5).join(', ')}${names.length > 5 ? ', …' : ''}; or `;
};

/** Whether an agent of this name runs on this host, according to its folder. */
export const runsHere = (dir: string, agentId: string): boolean => {
  checkName(agentId);
  return occupantOf(dir, agentId) !== null;
};

const occupied = (dir: string, agentId: string): Occupant => {
  checkName(agentId);
  const occupant = occupantOf(dir, agentId);
  if (occupant === null)
    throw new WrongSettings(
      `no agent ${agentId} runs on this host, according to ${dir}: ${otherNames(dir, agentId)}give the --dir (VIGIL_STATE_DIR) of its runtime. If it has ended: vigil explain ${agentId}`,
    );
  return occupant;
};

const linkTo = async (dir: string, occupant: Occupant, who: Viewer, last: number): Promise<Link> => {
  const { agentId, instanceId, ptyHost } = occupant;
  try {
    return await connectPtyHost(ptyHostSocket(dir, instanceId), { kind: 'viewer', last, ...who });
  } catch (error) {
    if (error instanceof PtyHostRefused) throw new WrongSettings(`agent ${agentId}: ${error.message}`);
    throw new WrongSettings(
      `the process that holds the terminal of ${agentId} (${ptyHost?.pid}) cannot be reached: ${String(error)}`,
    );
  }
};

const overOf = (link: Link, onOutput: (data: Buffer) => void): Promise<ViewEnd> =>
  new Promise((resolve) => {
    link.listen((message: FromPtyHost) => {
      if ('output' in message) onOutput(Buffer.from(message.output, 'base64'));
      else if ('ended' in message) resolve({ kind: 'ended', how: describeExit(message.ended) });
      else if ('missed' in message) resolve({ kind: 'too_slow', bytes: message.missed });
    });
    void link.closed.then(() => resolve({ kind: 'gone' }));
  });

/**
 * Attaches to an agent of this host: its last output, and its output from now on.
 * @throws WrongSettings with the reason, if it cannot be attached
 */
export const openView = async (
  dir: string,
  agentId: string,
  who: Viewer,
  onOutput: (data: Buffer) => void,
): Promise<View> => {
  const occupant = occupied(dir, agentId);
  if (occupant.ptyHost === null)
    throw new WrongSettings(
      `agent ${agentId} runs in the foreground of process ${occupant.supervisor.pid}: look at its own terminal (those of vigil run --detach and of vigil runtime can be attached to)`,
    );
  const link = await linkTo(dir, occupant, who, SHOWN_BYTES);
  return {
    pid: link.hosted.child.pid,
    size: link.hosted.size,
    over: overOf(link, onOutput),
    type: (keys) => link.send({ action: { kind: 'types', input: keys.toString('base64') } }),
    resize: (size) => link.send({ action: { kind: 'resizes', size } }),
    pause: link.pause,
    resume: link.resume,
    leave: () => {
      link.close();
      return Promise.race([link.closed, pause(1000)]);
    },
  };
};

const isFreeAgain = async (dir: string, { agentId, instanceId }: Occupant, withinMs: number): Promise<boolean> => {
  for (let waited = 0; occupantOf(dir, agentId)?.instanceId === instanceId; waited += LOOK_EVERY_MS) {
    if (waited >= withinMs) return false;
    await pause(LOOK_EVERY_MS);
  }
  return true;
};

/** No longer than a timer runs. */
const patienceMs = (graceMs: number): number => Math.min(graceMs + FAREWELL_MS, 2 ** 31 - 1);

const notEnded = ({ agentId, supervisor, child }: Occupant, graceMs: number): WrongSettings =>
  new WrongSettings(
    `agent ${agentId} has not ended: its supervisor (process ${supervisor.pid}) was asked ${Math.round(patienceMs(graceMs) / 1000)} s ago; its log may have the reason. Stop it again, or end process ${child?.pid ?? '(not started)'} yourself`,
  );

/** Its supervisor is asked; a foreground one by a signal, which it passes on. Gives how it ended, as far as that is to be seen here. */
const requestEnd = async (dir: string, occupant: Occupant, who: string, graceMs: number): Promise<string> => {
  if (occupant.ptyHost === null) {
    // A stale lock may name a process that belongs to another program by now, and a lock without an agent the whole runtime.
    if (!isAlive(occupant.supervisor))
      throw new WrongSettings(
        `the supervisor of ${occupant.agentId} (process ${occupant.supervisor.pid}) has died, and no PTY host holds its terminal: start its runtime again, or run its name again, and it is reported`,
      );
    if (occupant.child === null) throw new WrongSettings(`agent ${occupant.agentId} is just being started: try again`);
    leaveStopMarker(dir, occupant.instanceId, who);
    signalled(occupant.supervisor.pid, 'SIGTERM');
    return 'ended by its supervisor, which received SIGTERM';
  }
  const link = await linkTo(dir, occupant, { who, writes: true }, 0);
  const over = overOf(link, () => {});
  link.send({ action: { kind: 'ends', graceMs } });
  const waiting = new AbortController();
  const end = await Promise.race([over, pause(patienceMs(graceMs), waiting.signal)]);
  waiting.abort();
  link.close();
  if (!end) throw notEnded(occupant, graceMs);
  return end.kind === 'ended' ? end.how : 'ended with the process that held its terminal';
};

/**
 * Ends an agent of this host as its runtime would: a request, SIGTERM after the grace, SIGKILL 5 s later. Resolves
 * when its name is free again, with how it ended.
 * @throws WrongSettings if there is no such agent or no supervisor, or if the end does not come in time
 */
export const stopAgent = async (dir: string, agentId: string, who: string, graceMs: number): Promise<string> => {
  const occupant = occupied(dir, agentId);
  const how = await requestEnd(dir, occupant, who, graceMs);
  const isFree = await isFreeAgain(dir, occupant, patienceMs(graceMs));
  takeStopMarker(dir, occupant.instanceId);
  if (isFree) return how;
  throw notEnded(occupant, graceMs);
};

/** The new instance of a restarted agent, once it runs; null: not within the time. */
const newInstanceOf = async (dir: string, ended: Occupant, withinMs: number): Promise<Occupant | null> => {
  for (let waited = 0; waited < withinMs; waited += LOOK_EVERY_MS) {
    const found = occupantOf(dir, ended.agentId);
    if (found !== null && found.instanceId !== ended.instanceId && found.child !== null) return found;
    await pause(LOOK_EVERY_MS);
  }
  return null;
};

/**
 * Ends an agent of this host as `stopAgent` does, and has its supervisor start the same command again. Resolves when the new
 * instance runs, with its process.
 * @throws WrongSettings if there is no such agent, if it runs in the foreground, or if it does not come in time
 */
export const restartAgent = async (dir: string, agentId: string, who: string, graceMs: number): Promise<number> => {
  const occupant = occupied(dir, agentId);
  if (occupant.ptyHost === null)
    throw new WrongSettings(
      `agent ${agentId} runs in the foreground of process ${occupant.supervisor.pid}: stop it, and run its command again (those of vigil run --detach and of vigil runtime can be restarted)`,
    );
  const link = await linkTo(dir, occupant, { who, writes: true }, 0);
  link.send({ action: { kind: 'restarts', graceMs } });
  const started = await newInstanceOf(dir, occupant, patienceMs(graceMs));
  link.close();
  if (started?.child) return started.child.pid;
  throw new WrongSettings(
    `agent ${agentId} does not run again after ${Math.round(patienceMs(graceMs) / 1000)} s: the log of its supervisor (process ${occupant.supervisor.pid}) has the reason`,
  );
};
