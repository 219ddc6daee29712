import { openDeps, type Reach, readRuntimeConfig, startRuntime, WrongSettings } from '@vigil/supervisor';
import type { Command } from 'commander';
import {
  agentEnvironment,
  depsSettings,
  hostId,
  logToStderr,
  type SupervisingOptions,
  stateDir,
  withSupervisingOptions,
} from '../../supervising.ts';
import { logReach, reachBeforeStart } from './run-reach.ts';

type RuntimeOptions = SupervisingOptions & { readonly config: string };

const stopSignal = (): Promise<NodeJS.Signals> =>
  new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve(signal));
  });

/** How long the last reports may take to reach the gateway; the next runtime sends the rest. */
const farewellMs = 3000;

const runRuntime = async (options: RuntimeOptions): Promise<void> => {
  const stopped = stopSignal();
  const config = readRuntimeConfig(options.config);
  const dir = stateDir({ dir: options.dir ?? config.dir });
  const onReach = (agentId: string, reach: Reach) => logReach(logToStderr, agentId, reach);
  const deps = openDeps(config.runtime, depsSettings(options, dir, logToStderr, onReach));
  const wanted = { runtimeId: config.runtime, healthPolicy: config.policy ?? null, require: options.require };
  const reach = await reachBeforeStart(deps.gateway, wanted).catch((error: unknown) => {
    deps.close();
    throw error;
  });
  if (reach.kind === 'unwatched') logToStderr('not watched', { runtime: config.runtime, why: reach.why });
  const runtime = await startRuntime({ config, host: hostId(), env: agentEnvironment() }, deps);
  logToStderr('the runtime watches its agents', { runtime: config.runtime, dir, pid: process.pid });
  await runtime.stop(`its runtime received ${await stopped}`);
  await deps.outbox.settled(farewellMs);
  deps.close();
};

export const register = (program: Command): void => {
  const command = program
    .command('runtime')
    .description("this host's daemon: starts its configured agents, spawns by order, supervises them all")
    .requiredOption('--config <file>', 'the runtime configuration, YAML');
  withSupervisingOptions(command).action(async (options: RuntimeOptions) => {
    try {
      await runRuntime(options);
    } catch (error) {
      if (error instanceof WrongSettings) command.error(`vigil runtime: ${error.message}`);
      throw error;
    }
  });
};
