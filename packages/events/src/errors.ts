/**
 * The bytes are not an event of this topic; the record becomes a dead letter. `reason` is one of the reasons in
 * docs/bad-input.md.
 */
export class Undecodable extends Error {
  override readonly name: string = 'Undecodable';
  readonly reason: string;
  constructor(reason: string, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** An event of this topic from a newer producer, which this version does not support. Skip and count it. */
export class NewerEvent extends Undecodable {
  override readonly name = 'NewerEvent';
  constructor(message: string) {
    super('newer_event', message);
  }
}

/** A schema id that this codec has not learned: `learn` it and decode again. */
export class UnknownSchemaId extends Error {
  override readonly name = 'UnknownSchemaId';
  readonly id: number;
  constructor(id: number) {
    super(`schema id ${id} is not learned yet`);
    this.id = id;
  }
}

/** A value that does not fit its schema. The message names the field, the value and the expected type. */
export class Unfit extends Error {
  override readonly name = 'Unfit';
  readonly reason: string;
  readonly field: string;
  constructor(reason: string, field: string, message: string) {
    super(message);
    this.reason = reason;
    this.field = field;
  }
}

/** The registry is unreachable or does not have Vigil's schemas. Wait or stop; no record becomes a dead letter. */
export class RegistryTrouble extends Error {
  override readonly name = 'RegistryTrouble';
}

/** A schema that does not fit those with which the log's records were written. */
export class KeepSchemasCompatible extends Error {
  override readonly name = 'KeepSchemasCompatible';
  /** starting again changes nothing */
  readonly exitCode = 2;
}

/** The variables of the registry contradict each other, name a file that cannot be read, or are refused by it. */
export class CorrectRegistryVariables extends Error {
  override readonly name = 'CorrectRegistryVariables';
  /** starting again changes nothing */
  readonly exitCode = 2;
}
