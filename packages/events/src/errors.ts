/** The bytes cannot be an event of this topic: a dead letter. `reason` is one of the words of docs/bad-input.md. */
export class Undecodable extends Error {
  override readonly name: string = 'Undecodable';
  readonly reason: string;
  constructor(reason: string, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** An event of this topic that this version does not know: a newer producer wrote it. Pass it over and count it. */
export class NewerEvent extends Undecodable {
  override readonly name = 'NewerEvent';
  constructor(message: string) {
    super('newer_event', message);
  }
}

/** A schema id that this codec has not met: `learn` it and decode again. */
export class UnknownSchemaId extends Error {
  override readonly name = 'UnknownSchemaId';
  readonly id: number;
  constructor(id: number) {
    super(`schema id ${id} has not been met yet`);
    this.id = id;
  }
}

/** A value that does not fit its schema: names the field, the value and what would be right. */
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

/** The registry is away or does not know our schemas: stop, dead-letter nothing. */
export class RegistryTrouble extends Error {
  override readonly name = 'RegistryTrouble';
}

/** The variables of the registry contradict each other, or name a file that cannot be read. */
export class CorrectRegistryVariables extends Error {
  override readonly name = 'CorrectRegistryVariables';
  /** starting again changes nothing */
  readonly exitCode = 2;
}
