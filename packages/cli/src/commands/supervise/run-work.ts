import {
  type OpenDeps,
  readRuntimeConfig,
  WorkSource,
  type WorkSourceSettings,
  WrongSettings,
} from '@vigil/supervisor';
import { environmentFrom, type RunOptions } from './run-spec.ts';

/** How often `--work-source` is run, milliseconds: as often as a runtime runs its own. */
const EVERY_MS = 30_000;

/**
 * The tracker that the command line names, else that of the host's configuration; null: none.
 * @throws WrongSettings
 */
export const workSourceOf = (options: RunOptions): WorkSourceSettings | null => {
  const { workSource, runtimeConfig, task } = options;
  if (workSource !== undefined && task === undefined)
    throw new WrongSettings(
      `--work-source ${JSON.stringify(workSource)} needs --task ID: the work item is found by that id`,
    );
  const env = environmentFrom(options);
  if (workSource !== undefined)
    return { command: ['/bin/sh', '-c', workSource], cwd: process.cwd(), env, everyMs: EVERY_MS };
  const configured = runtimeConfig === undefined ? undefined : readRuntimeConfig(runtimeConfig).work_source;
  return configured === undefined ? null : { ...configured, env, everyMs: configured.interval };
};

/** Dependencies with the work items of a tracker that is chosen later. Closing them also stops asking it. */
export type DepsWithWork = OpenDeps & {
  /** From now on heartbeats have the work item of this tracker; null: they have none. */
  readonly follow: (settings: WorkSourceSettings | null) => void;
};

export const withWork = (deps: OpenDeps): DepsWithWork => {
  const closing = new AbortController();
  let workOf = deps.workOf;
  const follow = (settings: WorkSourceSettings | null) => {
    if (settings === null) return;
    const source = new WorkSource(settings, deps.logger);
    workOf = source.of;
    void source.run(closing.signal);
  };
  const close = () => {
    closing.abort();
    deps.close();
  };
  return { ...deps, workOf: (taskId) => workOf(taskId), follow, close };
};
