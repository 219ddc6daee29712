import { readFileSync } from 'node:fs';
import path from 'node:path';
import { catalogue, type EventOf, type HealthEvent, Topic, type TopicName, topicNames } from '@vigil/events';
import { readModel } from '@vigil/read-model';
import type { LogRecord } from '@vigil/stream';
import { isAlive } from '../support/alive.ts';
import { logNameOf, type TestSystem, until } from '../support/system.ts';

type Recorded<E> = E & { readonly record: LogRecord };

/** The same story in each output. */
export type Observed = {
  /** all committed events of a topic */
  readonly of: <T extends TopicName>(topic: T) => readonly Recorded<EventOf<T>>[];
  /** the rows in Postgres */
  readonly rows: ReturnType<typeof readModel>;
  /** the printed text and the exit code */
  readonly vigil: (...args: string[]) => Promise<{ readonly code: number; readonly text: string }>;
  /** what `vigil explain` prints of an agent */
  readonly explained: ReadonlyMap<string, string>;
  /** what the console sink has written, a line a message */
  readonly console: readonly string[];
  /** the log of the runtime */
  readonly runtime: () => readonly RuntimeLine[];
};

export type RuntimeLine = {
  readonly message: string;
  readonly agentId?: string;
  readonly pid?: number;
  readonly type?: string;
};

const STORY = topicNames.filter((topic) => catalogue[topic].kind !== 'snapshot');

/** The task of the agent that crashes each time. */
export const crashing: readonly string[] = ['crashes', 'crashes-r1', 'crashes-r2', 'crashes-r3'];

const EXPLAINED = [
  ...['steady', 'finishes', 'waits', 'limited', 'loops', 'hangs', 'hangs-r1', 'crashes', 'crashes-r3'],
];

const lines = (...file: string[]): string[] => readFileSync(path.join(...file), 'utf8').split('\n');

const consoleLines = (dir: string): string[] =>
  lines(dir, `logs/${logNameOf('alerting')}.log`).filter((line) => line.startsWith('ALERT '));

/** The last notice to people of each task. */
const LAST_NOTICES = [
  'ALERT resolved [warning] stuck_agent DEMO-loops: ',
  'ALERT resolved [warning] stuck_agent DEMO-hangs: ',
  'ALERT raised [critical] recovery_failed DEMO-crashes: ',
  'ALERT raised [warning] awaiting_input DEMO-waits: ',
];

/** Waits until every agent has reached its end, people have been notified, and the read model has caught up. */
export const haveAllEnded = async ({ dir, sql, events }: TestSystem): Promise<boolean> => {
  const observed = consoleLines(dir);
  if (!LAST_NOTICES.every((words) => observed.some((line) => line.startsWith(words)))) return false;
  const rows = readModel(sql);
  const [replacement, limited, loops] = await Promise.all(
    ['hangs-r1', 'limited', 'loops'].map((name) => rows.agent(name)),
  );
  const tasks = await rows.tasks({});
  const recovery = (taskId: string) => tasks.find((task) => task.taskId === taskId)?.recovery;
  const paused = await rows.cases({ agentId: 'limited' });
  const met =
    paused.length > 0 &&
    paused.every(({ ending }) => ending !== null) &&
    replacement?.endReason === 'finished' &&
    recovery('DEMO-hangs') === 'TASK_RELEASED' &&
    recovery('DEMO-crashes') === 'REVIEW_REQUIRED' &&
    limited?.exemptionSince !== null &&
    limited?.exemption === null &&
    loops?.state === 'HEALTHY';
  if (!met || !(await allAnswered(events))) return false;
  const exemptions = await events(Topic.agentHealth);
  return exemptions.some(({ key, type, payload }) => isEnd(key, type, payload));
};

const allAnswered = async (events: TestSystem['events']): Promise<boolean> => {
  const ordered = await events(Topic.agentOrder);
  const receipts = [...(await events(Topic.orderReceipt)), ...(await events(Topic.spawnReceipt))];
  const answered = new Set(receipts.map(({ payload }) => payload.orderId));
  return ordered.every(({ payload }) => answered.has(payload.orderId));
};

const isEnd = (key: string | null, type: string, payload: object): boolean =>
  key === 'limited' && type === 'EXEMPTION_CHANGED' && 'from' in payload && payload.from === 'paused';

/** Reads everything once the read model has caught up with the present topics. */
export const readBack = async (system: TestSystem): Promise<Observed> => {
  const all = new Map<TopicName, readonly Recorded<HealthEvent>[]>();
  for (const topic of STORY) all.set(topic, await system.events(topic));
  const rows = readModel(system.sql);
  await until('the read model has caught up with the topics', async () => {
    const positions = await rows.positions();
    const next = new Map(positions.map(({ topic, partition, offset }) => [`${topic}/${partition}`, offset]));
    const projected = [...all.values()].flat().filter(({ topic }) => positions.some((at) => at.topic === topic));
    return projected.every(({ topic, record }) => (next.get(`${topic}/${record.partition}`) ?? 0) > record.offset);
  });
  /** A busy host may fall behind for a while, and exits with 2 where it cannot answer: a view counts when it is current. */
  const vigil: Observed['vigil'] = (...args) =>
    until(`vigil ${args.join(' ')} is current`, async () => {
      const { code, stdout, stderr } = await system.vigil(...args);
      return code !== 2 && !stdout.startsWith('BLIND') && { code, text: `${stdout}${stderr}` };
    });
  const explained = EXPLAINED.map(async (name) => [name, (await vigil('explain', name)).text] as const);
  return {
    of: (topic) => (all.get(topic) ?? []) as never,
    rows,
    vigil,
    explained: new Map(await Promise.all(explained)),
    console: consoleLines(system.dir),
    runtime: () =>
      lines(system.dir, 'fleet/logs/runtime.log')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line) as RuntimeLine),
  };
};

/** The events of one agent on a topic, in the order of their versions if they have any. */
export const about = <T extends TopicName>(
  observed: Observed,
  topic: T,
  agentId: string,
): readonly Recorded<EventOf<T>>[] =>
  observed
    .of(topic)
    .filter((event) => (event.payload as { agentId?: string | null }).agentId === agentId)
    .toSorted((a, b) => (a.epoch ?? 0) - (b.epoch ?? 0) || (a.version ?? 0) - (b.version ?? 0));

/** `HEALTHY→STUCK` for each change of state. */
export const changes = (observed: Observed, agentId: string): string[] =>
  about(observed, Topic.agentHealth, agentId).flatMap((event) =>
    event.type === 'HEALTH_STATE_CHANGED' ? [`${event.payload.from}→${event.payload.to}`] : [],
  );

/** Its exemptions, in order. */
export const exemptions = (observed: Observed, agentId: string): string[] =>
  about(observed, Topic.agentHealth, agentId).flatMap((event) =>
    event.type === 'EXEMPTION_CHANGED' && event.payload.to !== null ? [event.payload.to] : [],
  );

/** The types of an agent's events on a topic. */
export const types = (observed: Observed, topic: TopicName, agentId: string): string[] =>
  about(observed, topic, agentId).map(({ type }) => type);

/** The orders of an agent, in order. */
export const orders = (observed: Observed, agentId: string): string[] => types(observed, Topic.agentOrder, agentId);

/** Its state in Postgres. */
export const standing = async (observed: Observed, agentId: string): Promise<object> => {
  const { state, endReason, exemption, policyName } = (await observed.rows.agent(agentId)) ?? {};
  return { state, endReason, exemption, policyName };
};

/** Whether each of its processes runs. */
export const alive = (observed: Observed, agentId: string): boolean[] =>
  observed
    .runtime()
    .flatMap(({ message, agentId: whose, pid }) =>
      message === 'an agent has started' && whose === agentId && pid !== undefined ? [isAlive(pid)] : [],
    );

/** The notices to people about a task: `raised [warning] stuck_agent`. */
export const noticesOf = (observed: Observed, taskId: string): string[] =>
  observed.console.filter((line) => line.includes(` ${taskId}: `)).map((line) => line.split(' ').slice(1, 4).join(' '));

/** Asserts that there was never a warrant, case, ruling, order, alert or recovery of an agent. */
export const leftAlone = (observed: Observed, agentId: string): object => ({
  warrants: types(observed, Topic.agentHealth, agentId).filter((type) => type.startsWith('WARRANT')),
  cases: types(observed, Topic.agentIntervention, agentId),
  rulings: types(observed, Topic.stepRuling, agentId),
  orders: types(observed, Topic.agentOrder, agentId),
  alerts: types(observed, Topic.alert, agentId),
  recoveries: observed.of(Topic.taskRecovery).filter(({ payload }) => payload.taskId === `DEMO-${agentId}`),
});

export const ALONE = { warrants: [], cases: [], rulings: [], orders: [], alerts: [], recoveries: [] };

/** The given pieces that a text contains, in order. */
export const inOrder = (text: string | undefined, pieces: readonly string[]): string[] => {
  let from = 0;
  return pieces.filter((piece) => {
    const at = text?.indexOf(piece, from) ?? -1;
    if (at >= 0) from = at + piece.length;
    return at >= 0;
  });
};
