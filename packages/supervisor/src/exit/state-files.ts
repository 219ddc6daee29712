import { isAbsolute, resolve, sep } from 'node:path';
import { USUAL_ATTEMPTS } from '@vigil/policy';
import { z } from 'zod';
import type { GatewayDeps } from '../deps.ts';
import type { HostUser } from '../process/host-user.ts';

/**
 * Folders that coditect's tools read: `recovery-….yaml` by ticket, and the log of each day. Null: nothing is written
 * there.
 */
export type StateFiles = { readonly recovery: string | null; readonly dispatchLog: string | null };

export const noStateFiles: StateFiles = { recovery: null, dispatchLog: null };

/** How long a policy may take to come, milliseconds. */
const POLICY_MS = 1500;

const folder = z.string().min(1).nullable().default(null);
const served = z.object({
  document: z.object({ files: z.object({ recovery: folder, dispatch_log: folder }).prefault({}) }),
});

const attempts = z.object({
  recovery: z.object({ max_attempts: z.int().min(0).default(USUAL_ATTEMPTS) }).prefault({}),
});

/** How many attempts at a task the policy's document allows; null: it is not a policy. */
export const attemptsOf = (document: unknown): number | null =>
  attempts.safeParse(document).data?.recovery.max_attempts ?? null;

/** A policy names a path below the agent's own folder only: its author must not write elsewhere on this host. */
const within = (cwd: string, path: string | null): string | null => {
  if (path === null || isAbsolute(path)) return null;
  const found = resolve(cwd, path);
  return found === cwd || found.startsWith(cwd + sep) ? found : null;
};

/** The folders of the template, else those of the policy. An agent of another user gets none: it could lead root elsewhere. */
export const stateFilesOf = async (
  deps: Pick<GatewayDeps, 'gateway' | 'logger'>,
  {
    cwd,
    files,
    policy,
    user,
  }: {
    readonly cwd: string;
    readonly files: StateFiles;
    readonly policy: string | null;
    readonly user: HostUser | null;
  },
): Promise<StateFiles> => {
  if (user !== null) return noStateFiles;
  if (files.recovery !== null || files.dispatchLog !== null || policy === null) return files;
  try {
    const answer = await deps.gateway.policy(policy, AbortSignal.timeout(POLICY_MS));
    const { recovery, dispatch_log } = served.parse(answer).document.files;
    return { recovery: within(resolve(cwd), recovery), dispatchLog: within(resolve(cwd), dispatch_log) };
  } catch (error) {
    deps.logger('the policy is not known, so its files are not written', { policy, error: String(error) });
    return noStateFiles;
  }
};
