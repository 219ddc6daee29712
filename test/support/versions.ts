import { type HealthEvent, Topic, type TopicName, type WithdrawStepPayload } from '@vigil/events';
import type { TestSystem } from './system.ts';

type Written = { readonly type: string; readonly payload?: unknown };

/** Cases and recovery both withdraw their requests. Requests of a case have its name. */
const isOfCase = ({ type, payload }: Written): boolean => {
  if (type !== 'WITHDRAW_STEP') return type === 'ADMIT_STEP';
  const { requestId, caseId } = payload as WithdrawStepPayload;
  return caseId !== '' && requestId.startsWith(caseId);
};
const isSpawn = ({ type }: Written): boolean => type === 'SPAWN_AGENT';

/** The topics of each decider. Two deciders share a topic for orders, and one for requests to the governor. */
const WRITES = {
  'health-evaluator': { [Topic.agentHealth]: null, [Topic.taskHealth]: null, [Topic.fleetPresence]: null },
  'intervention-cases': {
    [Topic.agentIntervention]: null,
    [Topic.agentOrder]: (event: Written) => !isSpawn(event),
    [Topic.admitStep]: isOfCase,
    [Topic.recoverTask]: null,
  },
  'intervention-governor': { [Topic.stepRuling]: null, [Topic.spawnRuling]: null, [Topic.fleetGovernance]: null },
  'intervention-requests': { [Topic.agentRequest]: null },
  'intervention-spending': { [Topic.spending]: null },
  recovery: {
    [Topic.taskRecovery]: null,
    [Topic.agentOrder]: isSpawn,
    [Topic.admitStep]: (event: Written) => !isOfCase(event),
    [Topic.decideCase]: null,
  },
  alerting: { [Topic.alert]: null },
} as const;

export type DeciderName = keyof typeof WRITES;
type Versioned = Pick<HealthEvent, 'topic' | 'type' | 'stateKey' | 'version' | 'epoch' | 'eventId' | 'payload'>;

/** `gaps` and `repeats` name missing and repeated events: `decider key@epoch: version`. */
export type VersionReport = {
  readonly events: number;
  readonly keys: number;
  readonly gaps: readonly string[];
  readonly repeats: readonly string[];
  /** the last version of each `key@epoch` */
  readonly last: ReadonlyMap<DeciderName, ReadonlyMap<string, number>>;
};

const written = (decider: DeciderName, event: Versioned): boolean => {
  const wanted = (WRITES[decider] as Partial<Record<TopicName, ((event: Written) => boolean) | null>>)[event.topic];
  return event.version !== null && wanted !== undefined && (wanted === null || wanted(event));
};

const byKey = (events: readonly Versioned[]): ReadonlyMap<string, readonly number[]> => {
  const found = new Map<string, number[]>();
  for (const { stateKey, epoch, version } of events) {
    const key = `${stateKey}@${epoch}`;
    const versions = found.get(key) ?? [];
    versions.push(version as number);
    found.set(key, versions);
  }
  return new Map([...found].map(([key, versions]) => [key, versions.toSorted((a, b) => a - b)]));
};

const missing = (versions: readonly number[]): number[] => {
  const there = new Set(versions);
  return Array.from({ length: versions.at(-1) ?? 0 }, (_, n) => n + 1).filter((version) => !there.has(version));
};

/**
 * Every decider counts its events of a key, over all its topics, 1, 2, 3 … without gap or repeat. Pure: give it all
 * events of those topics.
 */
export const versionsOf = (events: readonly Versioned[]): VersionReport => {
  const gaps: string[] = [];
  const repeats: string[] = [];
  const last = new Map<DeciderName, Map<string, number>>();
  let counted = 0;
  for (const decider of Object.keys(WRITES) as DeciderName[]) {
    const keys = byKey(events.filter((event) => written(decider, event)));
    for (const [key, versions] of keys) {
      counted += versions.length;
      gaps.push(...missing(versions).map((version) => `${decider} ${key}: ${version}`));
      const twice = versions.filter((version, place) => version === versions[place - 1]);
      repeats.push(...twice.map((version) => `${decider} ${key}: ${version}`));
    }
    last.set(decider, new Map([...keys].map(([key, versions]) => [key, versions.at(-1) as number])));
  }
  const keys = [...last.values()].reduce((sum, each) => sum + each.size, 0);
  return { events: counted, keys, gaps, repeats, last };
};

/** All events of deciders, read from the topics of a system. */
export const readVersions = async ({ events }: Pick<TestSystem, 'events'>): Promise<VersionReport> => {
  const topics = [...new Set(Object.values(WRITES).flatMap((writes) => Object.keys(writes) as TopicName[]))];
  const all: Versioned[] = [];
  for (const topic of topics) all.push(...(await events(topic)));
  return versionsOf(all);
};
