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

/** The attributes of a topic in schemas/. */
export type TopicInfo = {
  readonly name: string;
  readonly kind: string;
  /** the key space: agent, task, fleet, alert, policy, ticket, original */
  readonly key: string;
  readonly writers: readonly string[];
  /** forever, compact, or a number of days or hours such as 7d or 1h */
  readonly retention: string;
  /** many: the partition count of the agent key space; one: a single partition */
  readonly partitions: 'one' | 'many';
  readonly carriesTime: boolean;
  /** false for a flat record without an envelope, of another project */
  readonly envelope: boolean;
  readonly events: readonly EventInfo[];
};
