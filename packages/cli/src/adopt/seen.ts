import { statSync } from 'node:fs';
import { homedir } from 'node:os';
import type { AgentRow } from '@vigil/read-model';
import { Refusal } from '../errors.ts';
import { installed } from '../hook/settings.ts';
import { readSettings } from '../hook/settings-file.ts';
import type { RunningSession } from './sessions.ts';

/** A hook in a settings file that a session reads. */
type InstalledHook = {
  /** when the file was written last, epoch milliseconds: a session that started later has it */
  readonly since: number;
  /** it posts to the gateway itself, so the session needs no address, but the token */
  readonly posts: boolean;
};

/**
 * What Vigil sees of a running session. `watched`: by its hook; `restart_for_hook`: by its runtime only, as it started before its hook was
 * installed; `restart_to_be_seen`: nothing; `watched_without_hook` and `unseen_without_hook`: as its folder has no hook.
 */
export type Seen =
  | 'watched'
  | 'restart_for_hook'
  | 'restart_to_be_seen'
  | 'watched_without_hook'
  | 'unseen_without_hook';

const hookIn = (file: string): InstalledHook | null => {
  try {
    const { hooks } = installed(readSettings(file), file);
    return hooks.length === 0 ? null : { since: statSync(file).mtimeMs, posts: hooks.some((hook) => 'url' in hook) };
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
};

/** The hooks in the settings of its folder and of its user. */
export const hooksOf = ({ adapter, cwd, env }: RunningSession): readonly InstalledHook[] => {
  const { project, user } = adapter.install.files({ cwd: cwd ?? '/', home: env.HOME ?? homedir(), env });
  return (cwd === null ? [user] : [project, user]).flatMap((file) => hookIn(file) ?? []);
};

/** The agent that the session is has reported by the client's hook: its runtime cannot have read the same from its output. */
const hasReported = ({ adapter, invocation, env }: RunningSession, agents: readonly AgentRow[]): boolean =>
  !invocation.streamsEvents &&
  env.VIGIL_INSTANCE_ID !== undefined &&
  agents.some(({ instanceId, client }) => instanceId === env.VIGIL_INSTANCE_ID && client === adapter.name);

/** `agents`: those that Vigil has seen; empty if it was not queried. */
export const seenOf = (session: RunningSession, hooks: readonly InstalledHook[], agents: readonly AgentRow[]): Seen => {
  const { env, startedAt } = session;
  if (hasReported(session, agents)) return 'watched';
  const isSupervised = env.VIGIL_SOCKET !== undefined;
  if (hooks.length === 0) return isSupervised ? 'watched_without_hook' : 'unseen_without_hook';
  const own = hooks.filter(({ since }) => startedAt !== null && startedAt >= since);
  if (isSupervised) return own.length > 0 ? 'watched' : 'restart_for_hook';
  const hasWay = ({ posts }: InstalledHook) =>
    env.VIGIL_GATEWAY_TOKEN !== undefined && (posts || env.VIGIL_GATEWAY_URL !== undefined);
  return own.some(hasWay) ? 'watched' : 'restart_to_be_seen';
};
