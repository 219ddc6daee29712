import { catalogue, Topic, type TopicName, topicNames } from '@vigil/events';
import { silentLogger } from '../logger.ts';
import { snapshotTopic } from '../processor/topology.ts';
import type { KafkaAccess } from './access.ts';
import {
  AclOperationTypes,
  AclPermissionTypes,
  AclResourceTypes,
  openClients,
  ResourcePatternTypes,
} from './client.ts';

/** The operations of a service on the broker besides writing its topics, which the schemas name. */
type Uses = {
  readonly reads: readonly string[];
  /** topics of other services into which it writes ticks */
  readonly ticksInto: readonly TopicName[];
  /** each is a consumer group, a prefix of transactional ids and a snapshot topic */
  readonly processors: readonly string[];
  /** consumer groups without transactions; a trailing * is any name */
  readonly groups: readonly string[];
  /** groups whose offsets it displays, with the end offsets of all topics */
  readonly describes: readonly string[];
};

const published = topicNames.filter((topic) => catalogue[topic].kind === 'evt');
/** Published topics without rows in the read model. */
const withoutRows: readonly TopicName[] = [Topic.token, Topic.agentHealthcheck, Topic.agentTerminal];
const deadLetters = topicNames.filter((topic) => catalogue[topic].kind === 'dlq');
const reader = (reads: readonly string[]): Uses => ({
  reads,
  ticksInto: [],
  processors: [],
  groups: [],
  describes: [],
});

/** Every principal of the broker, by its name: a service, the agents that write heartbeats to Kafka themselves, and `vigil --direct`. */
const USES = {
  'heartbeat-ingest': {
    ...reader([Topic.heartbeat, Topic.controlAgent]),
    ticksInto: [Topic.heartbeat],
    processors: ['heartbeat-ingest'],
  },
  'health-evaluator': {
    ...reader([Topic.agentObservation, Topic.applyPolicy, Topic.policy]),
    processors: ['health-evaluator'],
  },
  intervention: {
    ...reader([
      Topic.agentHealth,
      Topic.stepRuling,
      Topic.orderReceipt,
      Topic.decideCase,
      Topic.handleRequest,
      Topic.fleetPresence,
      Topic.admitStep,
      Topic.controlFleet,
      Topic.runtimePresence,
    ]),
    processors: ['intervention-cases', 'intervention-governor', 'intervention-requests', 'intervention-spending'],
  },
  recovery: {
    ...reader([
      Topic.taskHealth,
      Topic.recoverTask,
      Topic.reviewTask,
      Topic.spawnRuling,
      Topic.spawnReceipt,
      Topic.taskCheckpoint,
    ]),
    processors: ['recovery'],
  },
  alerting: {
    ...reader([
      // The time of the evaluator's topic, which stops with heartbeat-ingest.
      Topic.agentObservation,
      Topic.agentHealth,
      Topic.agentIntervention,
      Topic.agentRequest,
      Topic.taskRecovery,
      Topic.fleetGovernance,
      Topic.spending,
      Topic.policy,
      Topic.notify,
      Topic.controlAlerts,
      Topic.alert,
    ]),
    processors: ['alerting', 'alerting-agent', 'alerting-task', 'alerting-fleet', 'alerting-groups'],
    // A group for each channel of its file.
    groups: ['alerting-*'],
  },
  projector: {
    ...reader([...published.filter((topic) => !withoutRows.includes(topic)), ...deadLetters, Topic.agentOrder]),
    // A rebuild reads beside the projector, in a group of its own.
    groups: ['projector', 'projector-rebuild'],
  },
  dashboard: {
    ...reader([...published, Topic.agentOrder, Topic.notify, snapshotTopic('health-evaluator')]),
    // `doctor` shows the lag of the rows; a replay reads how far the evaluator is.
    describes: ['projector', 'health-evaluator'],
  },
  gateway: reader([
    Topic.agentOrder,
    Topic.orderReceipt,
    Topic.spawnReceipt,
    Topic.policy,
    Topic.fleetPresence,
    Topic.spending,
    Topic.fleetGovernance,
    Topic.token,
    Topic.agentHealth,
    Topic.agentRequest,
    Topic.taskRecovery,
    Topic.leaseTerminal,
  ]),
  agents: reader([]),
  // `vigil replay` reads what the evaluator has read and decided.
  cli: {
    ...reader([Topic.agentObservation, Topic.policy, Topic.agentHealth, Topic.taskHealth, Topic.fleetPresence]),
    describes: ['health-evaluator'],
  },
} as const satisfies Readonly<Record<string, Uses>>;

export type Principal = keyof typeof USES;
export const PRINCIPALS = Object.keys(USES) as readonly Principal[];

/** One permission. `prefixed`: for each resource whose name begins with `name`. */
export type Acl = {
  readonly principal: Principal;
  readonly operation: 'read' | 'write' | 'describe';
  readonly resource: 'topic' | 'group' | 'transactional-id';
  readonly name: string;
  readonly pattern: 'literal' | 'prefixed';
};

type Permission = Omit<Acl, 'principal'>;
const literal = (operation: Acl['operation'], resource: Acl['resource'], name: string): Permission => ({
  operation,
  resource,
  name,
  pattern: 'literal',
});
const prefixed = (operation: Acl['operation'], resource: Acl['resource'], name: string): Permission => ({
  operation,
  resource,
  name,
  pattern: 'prefixed',
});

const writesOf = (principal: Principal): readonly string[] =>
  topicNames.filter((topic) => (catalogue[topic].writers as readonly string[]).includes(principal));

const permissionsOf = (principal: Principal): readonly Permission[] => {
  const { reads, ticksInto, processors, groups, describes }: Uses = USES[principal];
  const readTopics = new Set<string>([...reads, ...processors.map(snapshotTopic)]);
  return [
    ...[...readTopics].map((topic) => literal('read', 'topic', topic)),
    ...[...new Set<string>([...writesOf(principal), ...ticksInto])].map((topic) => literal('write', 'topic', topic)),
    ...processors.map((name) => literal('read', 'group', name)),
    ...processors.map((name) => prefixed('write', 'transactional-id', `${name}-`)),
    ...groups.map((name) =>
      name.endsWith('*') ? prefixed('read', 'group', name.slice(0, -1)) : literal('read', 'group', name),
    ),
    ...describes.map((name) => literal('describe', 'group', name)),
    ...(describes.length === 0 ? [] : [prefixed('describe', 'topic', 'onex.')]),
  ];
};

/** All permissions of each principal. A permission to read or write includes describing. */
export const planAcls = (): readonly Acl[] =>
  PRINCIPALS.flatMap((principal) => permissionsOf(principal).map((permission) => ({ principal, ...permission })));

const OPERATIONS = {
  read: AclOperationTypes.READ,
  write: AclOperationTypes.WRITE,
  describe: AclOperationTypes.DESCRIBE,
};
const RESOURCES = {
  topic: AclResourceTypes.TOPIC,
  group: AclResourceTypes.GROUP,
  'transactional-id': AclResourceTypes.TRANSACTIONAL_ID,
};
const PATTERNS = { literal: ResourcePatternTypes.LITERAL, prefixed: ResourcePatternTypes.PREFIXED };

/** Creates the permissions and deletes none. The connection's principal must be allowed to alter ACLs. */
export const applyAcls = async (kafka: KafkaAccess): Promise<readonly Acl[]> => {
  const admin = openClients(kafka, 'vigil-topics', silentLogger).admins.admin();
  const acls = planAcls();
  await admin.connect();
  try {
    await admin.createAcls({
      acl: acls.map(({ principal, operation, resource, name, pattern }) => ({
        principal: `User:${principal}`,
        host: '*',
        permissionType: AclPermissionTypes.ALLOW,
        operation: OPERATIONS[operation],
        resourceType: RESOURCES[resource],
        resourceName: name,
        resourcePatternType: PATTERNS[pattern],
      })),
    });
    return acls;
  } finally {
    await admin.disconnect();
  }
};
