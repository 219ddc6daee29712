/** The settings of every node, which is a small broker and controller. */
const commonSettings: Readonly<Record<string, string>> = {
  'process.roles': 'broker,controller',
  'controller.listener.names': 'CONTROLLER',
  'inter.broker.listener.name': 'PLAINTEXT',
  'listener.security.protocol.map': 'CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT',
  // The internal topics have few partitions, which are quick to create and to load.
  'offsets.topic.num.partitions': '4',
  'transaction.state.log.num.partitions': '4',
  'share.coordinator.state.topic.num.partitions': '1',
  'offsets.topic.segment.bytes': '16777216',
  'transaction.state.log.segment.bytes': '16777216',
  'log.cleaner.dedupe.buffer.size': '16777216',
  // Tests use short sessions.
  'group.min.session.timeout.ms': '1000',
  // A misspelt topic is an error.
  'auto.create.topics.enable': 'false',
  'num.partitions': '4',
  'num.network.threads': '2',
  'num.io.threads': '4',
  'num.recovery.threads.per.data.dir': '2',
};

/**
 * The settings of a single Kafka node for Vigil, by property name. A test compares docker-compose.yml with them. The
 * session of the broker is Kafka's default, 9 s. A session of 2 s brings a restart after kill -9 from 12 s to 4 s.
 * The node then fences itself whenever a busy machine gives it no processor for 2 s.
 */
export const brokerSettings: Readonly<Record<string, string>> = {
  ...commonSettings,
  'node.id': '1',
  // One node holds the only replica.
  'offsets.topic.replication.factor': '1',
  'transaction.state.log.replication.factor': '1',
  'transaction.state.log.min.isr': '1',
  'share.coordinator.state.topic.replication.factor': '1',
  'share.coordinator.state.topic.min.isr': '1',
  // The first member of a group starts at once, and a lost one is detected within a second or two.
  'group.initial.rebalance.delay.ms': '0',
  'transaction.abort.timed.out.transaction.cleanup.interval.ms': '1000',
};

/** The settings of topics on such a node, which can hold one replica. */
export const TOPICS_OF_ONE_BROKER = { VIGIL_PARTITIONS: '4', VIGIL_REPLICAS: '1' } as const;

/**
 * The production settings of each of three nodes: three replicas, at least two with an acknowledged record, and
 * Kafka's default waiting times. Tests only: the controller moves leaders back to the preferred replicas each second,
 * and not each five minutes.
 */
export const productionSettings: Readonly<Record<string, string>> = {
  ...commonSettings,
  'default.replication.factor': '3',
  'min.insync.replicas': '2',
  'offsets.topic.replication.factor': '3',
  'transaction.state.log.replication.factor': '3',
  'transaction.state.log.min.isr': '2',
  'share.coordinator.state.topic.replication.factor': '3',
  'share.coordinator.state.topic.min.isr': '2',
  'group.initial.rebalance.delay.ms': '3000',
  'transaction.abort.timed.out.transaction.cleanup.interval.ms': '10000',
  'broker.session.timeout.ms': '9000',
  'broker.heartbeat.interval.ms': '2000',
  'leader.imbalance.check.interval.seconds': '1',
};

/** The settings of topics on three such nodes. */
export const TOPICS_OF_THREE_BROKERS = { VIGIL_PARTITIONS: '4', VIGIL_REPLICAS: '3' } as const;

/** The environment variable of a property in the image: KAFKA_NODE_ID for node.id. */
export const asEnvironment = (settings: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [`KAFKA_${name.toUpperCase().replaceAll('.', '_')}`, value]),
  );
