import type { AgentRow } from '@vigil/read-model';
import { changed } from '@vigil/supervisor/terminal-lines';
import type { Me } from './commands.ts';

/** Whether the runtime answers. `since`: epoch milliseconds. */
export type TerminalStatus = 'waiting' | 'live' | 'away' | 'closed';

type Lines = {
  readonly lines: readonly string[];
  readonly instanceId: string;
  /** when they were published, epoch milliseconds */
  readonly at: number;
  /** lines that came and left between two messages */
  readonly unseen: number;
  /** by the clock of the agent's host */
  readonly outputAt: number | null;
};

/** What the dashboard sends while the terminal is open. */
export type TerminalMessage =
  | { readonly kind: 'status'; readonly status: TerminalStatus; readonly since: number; readonly runtimeId: string }
  | ({ readonly kind: 'whole' } & Lines)
  | ({ readonly kind: 'change'; readonly removed: number; readonly kept: number } & Lines)
  | { readonly kind: 'closed'; readonly why: string; readonly at: number };

/** The terminal as the page has it. `lost`: why the dashboard does not send it now; null: it does. */
export type TerminalView = {
  readonly lines: readonly string[];
  readonly instanceId: string | null;
  readonly unseen: number;
  readonly changedAt: number | null;
  readonly status: TerminalStatus;
  readonly since: number;
  readonly runtimeId: string | null;
  readonly closedWhy: string | null;
  readonly lost: { readonly since: number; readonly why: string; readonly isFinal: boolean } | null;
};

/** `now`: epoch milliseconds. */
export const opening = (now: number): TerminalView => ({
  ...{ lines: [], instanceId: null, unseen: 0, changedAt: null, status: 'waiting', since: now },
  ...{ runtimeId: null, closedWhy: null, lost: null },
});

/** The terminal after a message. */
export const received = (before: TerminalView, message: TerminalMessage): TerminalView => {
  const view = { ...before, lost: null };
  switch (message.kind) {
    case 'status':
      return { ...view, status: message.status, since: message.since, runtimeId: message.runtimeId };
    case 'closed':
      return { ...view, closedWhy: message.why };
    case 'whole': {
      const { lines, instanceId, outputAt, at } = message;
      return { ...view, lines, instanceId, unseen: 0, changedAt: outputAt ?? at, closedWhy: null };
    }
    case 'change': {
      const isQuiet = message.lines.length === 0 && message.removed === 0 && message.kept === view.lines.length;
      const changedAt = isQuiet && message.unseen === 0 ? view.changedAt : message.at;
      return { ...view, lines: changed(view.lines, message), unseen: view.unseen + message.unseen, changedAt };
    }
  }
};

/** The dashboard sends nothing now. `isFinal`: it will not be asked again. */
export const lostAt = (view: TerminalView, now: number, why: string, isFinal: boolean): TerminalView => ({
  ...view,
  lost: { since: view.lost?.since ?? now, why, isFinal },
});

/** Whether the lines are those that the terminal shows now. */
export const isLive = ({ status, lost }: TerminalView): boolean => status === 'live' && lost === null;

const ROLES = ['operator', 'admin'];

export const maySeeTerminals = (me: Me | null): boolean => me !== null && ROLES.includes(me.role);

/** Why an agent has no terminal; null: it has one. */
export const whyNoTerminal = ({ runtimeId, state }: Pick<AgentRow, 'runtimeId' | 'state'>): string | null => {
  if (runtimeId === null)
    return 'It runs without a runtime. Only an agent that `vigil run` or `vigil runtime` has started has a terminal.';
  return state === 'TERMINATED' ? 'It has ended. Its last output is below.' : null;
};

/** Where no last output was received: when it comes. */
export const noOutputText = (agent: Pick<AgentRow, 'runtimeId' | 'state'>): string =>
  whyNoTerminal(agent) === null
    ? 'Its runtime sends it when the agent ends. The terminal shows the present output.'
    : 'Nothing was received.';
