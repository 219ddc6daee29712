import type { Adapter, CommandLine, Interrupt, Invocation, ScreenMeaning } from '@vigil/adapters/adapter';
import type { ClientReport } from '@vigil/events';

/** What a supervisor has to know of a coding agent's client. */
export type ClientAdapter = Pick<
  Adapter,
  'name' | 'invocation' | 'screen' | 'typed' | 'stream' | 'interrupt' | 'resume'
>;

/** The client that a command line starts. */
export type StartedClient = Omit<ClientAdapter, 'invocation'> & { readonly invocation: Invocation };

/** Null: there is no adapter for the program that this command line starts. */
export const clientOf = (adapters: readonly ClientAdapter[], line: CommandLine): StartedClient | null => {
  for (const adapter of adapters) {
    const invocation = adapter.invocation(line);
    if (invocation !== null) return { ...adapter, invocation };
  }
  return null;
};

export type Resumption =
  | { readonly kind: 'command'; readonly line: CommandLine }
  | { readonly kind: 'impossible'; readonly why: string };

/** Clients' ids are UUIDs or like them. One that begins with a dash would be an option, such as one that bypasses permissions. */
const SESSION_ID = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,199}$/;

const impossible = (why: string): Resumption => ({ kind: 'impossible', why });

/** The command line that continues the session that the client has reported, with this text. */
export const resumptionOf = (
  clients: readonly ClientAdapter[],
  line: CommandLine,
  reported: ClientReport | null,
  text: string,
): Resumption => {
  const client = clientOf(clients, line);
  if (client === null) return impossible(`no adapter exists for the client that ${line.command} starts`);
  if (reported === null || reported.session_id === null)
    return impossible(`${client.name} has not reported its session; its hook or its output stream does that`);
  if (reported.name !== client.name)
    return impossible(`the session is one of ${reported.name}, and the command starts ${client.name}`);
  if (!SESSION_ID.test(reported.session_id))
    return impossible(`${JSON.stringify(reported.session_id.slice(0, 100))} is not the id of a session`);
  const resumed = client.resume(line, reported.session_id, text);
  return resumed === null
    ? impossible(`${client.name} cannot resume a session that was started so`)
    : { kind: 'command', line: resumed };
};

/**
 * The known state of a client whose turn is to be interrupted. `turnOpen`: as its hooks report; null: they report
 * nothing.
 */
export type Interruptible = {
  readonly meaning: ScreenMeaning;
  readonly turnOpen: boolean | null;
  readonly isWaiting: boolean;
};

export type Pressing =
  | { readonly kind: 'press'; readonly keys: string }
  | { readonly kind: 'refused'; readonly why: string };

const refused = (why: string): Pressing => ({ kind: 'refused', why });

/**
 * A key is pressed only if the screen shows that the client works. In a dialog it would be an answer, and at the
 * prompt it would change what a person has typed.
 * If the screen does not show turns, the client's hooks decide.
 */
export const decideInterrupt = (how: Interrupt, { meaning, turnOpen, isWaiting }: Interruptible): Pressing => {
  switch (how.kind) {
    case 'none':
      return refused(how.why);
    case 'signal':
      return refused(`${how.signal} ends this client: it is interrupted when its session is resumed`);
    case 'key':
      if (isWaiting) return refused('the agent waits for a person: no key is pressed');
      if (meaning.kind === 'dialog')
        return refused(`no key is pressed in a dialog: its question is ${JSON.stringify(meaning.text)}`);
      if (meaning.kind === 'working' || meaning.kind === 'retrying') return { kind: 'press', keys: how.data };
      if (meaning.kind === 'prompt' && turnOpen === true && meaning.pending === null)
        return { kind: 'press', keys: how.data };
      return refused('the screen does not show that the client works; a key is pressed only then');
  }
};
