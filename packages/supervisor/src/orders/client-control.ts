import type { Adapter, CommandLine, Invocation } from '@vigil/adapters/adapter';
import type { ClientReport } from '@vigil/events';

/** What ends a turn of a client, and what starts a session of it again. */
export type ClientControl = Pick<Adapter, 'name' | 'invocation' | 'interrupt' | 'resume'>;

export type Resumption =
  | { readonly kind: 'command'; readonly line: CommandLine }
  | { readonly kind: 'impossible'; readonly why: string };

/** Clients' ids are UUIDs or like them. One that begins with a dash would be an option, such as one that bypasses permissions. */
const sessionId = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,199}$/;

const impossible = (why: string): Resumption => ({ kind: 'impossible', why });

/** The adapter of the client that this command line starts, with what it starts; null: there is no adapter for it. */
export const controlOf = (
  clients: readonly ClientControl[],
  line: CommandLine,
): { readonly client: ClientControl; readonly invocation: Invocation } | null => {
  for (const client of clients) {
    const invocation = client.invocation(line);
    if (invocation !== null) return { client, invocation };
  }
  return null;
};

/** The command line that continues the session that the client has reported, with this text. */
export const resumptionOf = (
  clients: readonly ClientControl[],
  line: CommandLine,
  reported: ClientReport | null,
  text: string,
): Resumption => {
  const control = controlOf(clients, line);
  if (control === null) return impossible(`no adapter exists for the client that ${line.command} starts`);
  const { client } = control;
  if (reported === null || reported.session_id === null)
    return impossible(`${client.name} has not reported its session; its hook or its output stream does that`);
  if (reported.name !== client.name)
    return impossible(`the session is one of ${reported.name}, and the command starts ${client.name}`);
  if (!sessionId.test(reported.session_id))
    return impossible(`${JSON.stringify(reported.session_id.slice(0, 100))} is not the id of a session`);
  const resumed = client.resume(line, reported.session_id, text);
  return resumed === null
    ? impossible(`${client.name} cannot resume a session that was started so`)
    : { kind: 'command', line: resumed };
};
