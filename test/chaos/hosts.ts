import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Supervised } from '@vigil/dev';
import { startRuntime } from '../support/runtimes.ts';
import type { TestSystem } from '../support/system.ts';
import type { AgentBehaviour, PlannedAgent } from './behaviours.ts';
import { type Entry, readDiary } from './chronicle.ts';

/** A host: a runtime with its name, and further labels. */
export type Host = { readonly name: string; readonly labels?: Readonly<Record<string, string>> };

/** Runtimes with real agents. Each has a template for each task. */
export type Hosts = {
  readonly runtimes: readonly Supervised[];
  /** starts a host's runtime again, as after a reboot */
  readonly again: (name: string) => Supervised;
  readonly diary: () => readonly Entry[];
  readonly stop: () => Promise<void>;
};

type Member = PlannedAgent<AgentBehaviour>;

/**
 * `folder`: below the system's own, so that each story has its own. Agents are spread over all hosts, or by `hostOf`.
 */
export const openHosts = (
  vigil: TestSystem,
  folder: string,
  hosts: readonly Host[],
  members: readonly Member[],
  hostOf: (member: Member, place: number) => string = (_, place) => hosts[place % hosts.length]?.name ?? '',
): Hosts => {
  const dir = path.join(vigil.dir, folder);
  mkdirSync(dir, { recursive: true });
  const state = mkdtempSync(path.join(tmpdir(), 'vigil-'));
  const templates = members.map(({ name, task, behaviour, afterMs }) => ({
    ...{ name, task, command: process.execPath, cwd: dir },
    args: [path.join(import.meta.dirname, 'agent.ts'), behaviour, String(afterMs), dir],
  }));
  const common = { capacity: 4 * members.length, announce: '2s', grace: '100ms', interval: '1s' };
  const start = ({ name, labels }: Host): Supervised =>
    startRuntime(vigil, { folder: dir, state }, name, {
      ...common,
      templates,
      labels: { host: name, ...labels },
      agents: members
        .filter((member, place) => hostOf(member, place) === name)
        .map((member) => ({ name: member.name, task: member.task, template: member.name })),
    });
  const runtimes = hosts.map(start);
  return {
    runtimes,
    again: (name) => {
      const runtime = start(hosts.find((host) => host.name === name) ?? { name });
      runtimes.push(runtime);
      return runtime;
    },
    diary: () => readDiary(dir),
    stop: async () => {
      await Promise.all(runtimes.map((runtime) => runtime.stop()));
      if (process.env.VIGIL_KEEP === undefined) rmSync(state, { recursive: true, force: true });
    },
  };
};
