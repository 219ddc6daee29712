import { isAbsolute, resolve, sep } from 'node:path';
import { recoveryDocument } from '@vigil/policy';
import { z } from 'zod';
import type { GatewayDeps } from '../deps.ts';
import type { HostUser } from '../process/host-user.ts';

/**
 * Folders that omniclaude's tools read: `recovery-….yaml` by ticket, the log of each day, and the friction events.
 * Null: nothing is written there.
 */
export type StateFiles = {
  readonly recovery: string | null;
  /** as `recovery`, but only of an agent that an order ends, and never the checkpoint to continue from */
  readonly partialState: string | null;
  readonly dispatchLog: string | null;
  readonly friction: string | null;
  /** the folder that no link may lead out of, where a policy names the folders; null: each folder itself */
  readonly root: string | null;
};

export const noStateFiles: StateFiles = {
  recovery: null,
  partialState: null,
  dispatchLog: null,
  friction: null,
  root: null,
};

/** How long a policy may take to come, milliseconds. */
const POLICY_MS = 1500;

const folder = z.string().min(1).nullable().default(null);
/** A newer version's settings are ignored. */
const recovery = z.object(recoveryDocument.shape).prefault({});
const served = z.object({
  document: z.object({
    files: z.object({ recovery: folder, partial_state: folder, dispatch_log: folder, friction: folder }).prefault({}),
    recovery,
  }),
});

const document = z.object({ recovery });
const recoveryOf = (policy: unknown) => document.safeParse(policy).data?.recovery ?? null;
/** Of a policy that names none. */
const usual = document.parse({}).recovery;

/** How many attempts at a task the policy's document allows; null: it is not a policy. */
export const attemptsOf = (policy: unknown): number | null => recoveryOf(policy)?.max_attempts ?? null;

/**
 * Whether no attempt is left after this one. An agent that ran as long as `probation` and `stable` together may have
 * started a new count, so its attempt is not the last. `ranMs`: since its start.
 */
export const isLastAttempt = (
  policy: unknown,
  { attempt, maxAttempts }: { readonly attempt: number; readonly maxAttempts: number | null },
  ranMs: number,
): boolean => {
  if (maxAttempts === null || attempt < maxAttempts) return false;
  const { reset_attempts: rule, probation, stable } = recoveryOf(policy) ?? usual;
  return rule === 'by_people' || ranMs < probation + stable;
};

/** A policy names a path below the agent's own folder only: its author must not write elsewhere on this host. */
const within = (cwd: string, path: string | null): string | null => {
  if (path === null || isAbsolute(path)) return null;
  const found = resolve(cwd, path);
  return found === cwd || found.startsWith(cwd + sep) ? found : null;
};

const servedPolicy = async ({ gateway }: Pick<GatewayDeps, 'gateway'>, policy: string) =>
  served.parse(await gateway.policy(policy, AbortSignal.timeout(POLICY_MS))).document;

/** The last line of a replacement's prompt under this policy; null: it has none, or is not known. */
export const resumeLineOf = async (
  deps: Pick<GatewayDeps, 'gateway' | 'logger'>,
  policy: string | null,
): Promise<string | null> => {
  if (policy === null) return null;
  try {
    return (await servedPolicy(deps, policy)).recovery.resume_line;
  } catch (error) {
    deps.logger('the policy is not known, so its resume line is not written', { policy, error: String(error) });
    return null;
  }
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
  if (Object.values(files).some((one) => one !== null) || policy === null) return files;
  try {
    const { recovery, partial_state, dispatch_log, friction } = (await servedPolicy(deps, policy)).files;
    const below = (path: string | null) => within(resolve(cwd), path);
    return {
      recovery: below(recovery),
      partialState: below(partial_state),
      dispatchLog: below(dispatch_log),
      friction: below(friction),
      root: resolve(cwd),
    };
  } catch (error) {
    deps.logger('the policy is not known, so its files are not written', { policy, error: String(error) });
    return noStateFiles;
  }
};
