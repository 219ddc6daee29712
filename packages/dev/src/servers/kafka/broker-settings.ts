/** What every node has: it is broker and controller, and small. */
const commonSettings: Readonly<Record<string, string>> = {
  'process.roles': 'broker,controller',
  'controller.listener.names': 'CONTROLLER',
  'inter.broker.listener.name': 'PLAINTEXT',
  'listener.security.protocol.map': 'CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT',
  // Few partitions of the internal topics: quick to make and to load.
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
 * What a single Kafka node needs to serve Vigil, by property name. docker-compose.yml states the same, which a test
 * compares. Measured on 4.2.0: the two session settings bring a restart after kill -9 from 12 s to 4 s.
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
  // The first member of a group starts at once; a lost one is missed within a second or two.
  'group.initial.rebalance.delay.ms': '0',
  'transaction.abort.timed.out.transaction.cleanup.interval.ms': '1000',
  'broker.session.timeout.ms': '2000',
  'broker.heartbeat.interval.ms': '400',
};

/** How topics are made on such a node: it can hold one replica. */
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

/** How topics are made on three such nodes. */
export const TOPICS_OF_THREE_BROKERS = { VIGIL_PARTITIONS: '4', VIGIL_REPLICAS: '3' } as const;

/** The image's way of naming a property: KAFKA_NODE_ID for node.id. */
export const asEnvironment = (settings: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [`KAFKA_${name.toUpperCase().replaceAll('.', '_')}`, value]),
  );
