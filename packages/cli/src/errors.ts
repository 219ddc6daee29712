/** The request is wrong, or there is no server to send it to. Ends the command with code 2. */
export class CannotProceed extends Error {
  override readonly name: string = 'CannotProceed';
}

/**
 * The server does not answer. `why`: the reason alone, for a view that has a beginning of its own. `blind`: since when the
 * command is blind, as its message begins; null: it shows no states.
 */
export class NoAnswer extends CannotProceed {
  readonly why: string;
  constructor(why: string, blind: string | null = null) {
    super(blind === null ? why : `${blind}: ${why}`);
    this.why = why;
  }
}

/** The dashboard answers that it has no states. `part`: what does not answer it; `since`: since when, epoch milliseconds. */
export class NoStates extends CannotProceed {
  readonly part: string;
  readonly since: number;
  constructor(message: string, part: string, since: number) {
    super(message);
    this.part = part;
    this.since = since;
  }
}

/** The request is refused, or a check has failed. Ends the command with code 1. */
export class Refusal extends Error {
  override readonly name: string = 'Refusal';
}

/** The dashboard has nothing of this kind with the given name. `kind`: as its problems name it, such as `agent`. */
export class UnknownName extends Refusal {
  override readonly name = 'UnknownName';
  readonly kind: string;
  constructor(kind: string, message: string) {
    super(message);
    this.kind = kind;
  }
}

/** Kafka has not acknowledged a command in time: it may still be applied. `eventId`: its id. */
export class Unconfirmed extends Refusal {
  override readonly name = 'Unconfirmed';
  readonly eventId: string;
  constructor(eventId: string) {
    super(
      `Kafka has not acknowledged the command in time. It may still be applied, so look before you repeat it: vigil command show ${eventId}`,
    );
    this.eventId = eventId;
  }
}
