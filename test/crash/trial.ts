import { cpSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Topic } from '@vigil/events';
import { type Faults, randomFrom } from '../support/faults.ts';
import { type Herd, startHerd } from '../support/herd/herd.ts';
import type { HerdPlan } from '../support/herd/members.ts';
import { standStill, unstable } from '../support/settled.ts';
import { openSystem, ROOM, type TestSystem, until } from '../support/system.ts';
import { readVersions, type VersionReport } from '../support/versions.ts';
import { notFound } from './findings.ts';
import { freshRows, projectedRows, type Rows } from './projected.ts';

export type Trial = {
  readonly name: string;
  readonly herd: HerdPlan;
  readonly inject: (on: TestSystem, herd: Herd, faults: Faults) => Promise<void>;
};

/** The evidence of a trial, read after all services have read and written everything. */
export type Evidence = {
  readonly on: TestSystem;
  readonly herd: Herd;
  readonly faults: readonly string[];
  readonly seed: number;
  readonly restarts: Readonly<Record<string, number>>;
  readonly refused: readonly string[];
  readonly unstable: readonly string[];
  readonly versions: VersionReport;
  readonly rows: { readonly projected: Rows; readonly fresh: Rows };
};

/** Tasks that are on a fresh working agent. */
const recovered = async (on: TestSystem): Promise<ReadonlySet<string>> =>
  new Set(
    (await on.events(Topic.taskRecovery)).flatMap(({ type, payload }) =>
      type === 'RECOVERY_COMPLETED' ? [payload.taskId] : [],
    ),
  );

/** What is not over yet: agents that have not been found, and tasks that are on no fresh agent. */
const leftOver = async (on: TestSystem, herd: Herd): Promise<readonly string[]> => {
  const failing = herd.agents.filter(({ behaviour }) => behaviour !== 'works');
  if (failing.length > herd.failed().length) return ['agents that have not failed yet'];
  const tasks = await recovered(on);
  const waiting = failing.flatMap(({ taskId }) => (tasks.has(taskId) ? [] : [taskId]));
  return [...(await notFound({ on, herd })), ...waiting];
};

/** Runs the trial to its end and collects the evidence. The system's servers continue to run for queries of the log. */
export const hold = async ({ name, herd: plan, inject }: Trial): Promise<Evidence> => {
  const on = await openSystem({ name: `crash-${name.replaceAll(/\W+/g, '-')}`, env: ROOM });
  const seed = Number(process.env.VIGIL_SEED ?? Date.now() % 1_000_000);
  const faults: Faults = { done: [], random: randomFrom(seed) };
  try {
    const herd = await startHerd(on, plan);
    await inject(on, herd, faults);
    // A broker that has just come back does not lead its partitions at once, so the query is repeated.
    let left: readonly string[] = [];
    const isOver = async (): Promise<boolean> => {
      left = await leftOver(on, herd).catch(({ message }: Error) => [message]);
      return left.length === 0;
    };
    await until('every death is found and every task recovered', isOver, 300_000).catch((error: unknown) => {
      console.error(`left over: ${left.join(', ')}`);
      throw error;
    });
    await herd.stop();
    await standStill(on);
    const projected = await projectedRows(on);
    const services = ['heartbeat-ingest', 'health-evaluator', 'intervention', 'recovery', 'alerting'] as const;
    const all = [...services, 'projector', 'dashboard', 'gateway'] as const;
    const restarts = Object.fromEntries(all.map((each) => [each, on.system.service(each).restarts()]));
    const refused = all.filter((each) => on.system.service(each).isRefused());
    await on.system.stop();
    const fresh = await freshRows(on);
    const evidence = { on, herd, seed, faults: faults.done, restarts, refused, unstable: await unstable(on) };
    return { ...evidence, versions: await readVersions(on), rows: { projected, fresh } };
  } catch (error) {
    const kept = mkdtempSync(path.join(tmpdir(), 'vigil-trial-'));
    cpSync(path.join(on.dir, 'logs'), kept, { recursive: true });
    console.error(`seed ${seed}; done: ${faults.done.join(', ')}; the logs are in ${kept}`);
    await on.stop();
    throw error;
  }
};
