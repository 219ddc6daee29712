/** One event or command of a topic. */
export type EventInfo = {
  /** the Avro record's name */
  readonly record: string;
  /** the record's name in capitals: the discriminant of HealthEvent */
  readonly type: string;
  /** `<topic>-<namespace>.<Record>`: the registry's subject */
  readonly subject: string;
  /** path below schemas/ */
  readonly file: string;
  readonly doc: string;
};

/** What schemas/ says of a topic. */
export type TopicInfo = {
  readonly name: string;
  readonly kind: string;
  /** the key space: agent, task, fleet, alert, policy, ticket, original */
  readonly key: string;
  readonly writers: readonly string[];
  /** forever, compact, or a number of days such as 7d */
  readonly retention: string;
  /** many: as many as the agent key space has; one: a single partition */
  readonly partitions: 'one' | 'many';
  readonly carriesTime: boolean;
  /** false: somebody else's contract, flat */
  readonly envelope: boolean;
  readonly events: readonly EventInfo[];
};
