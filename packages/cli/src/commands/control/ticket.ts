import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { AlertRow, TicketRow } from '@vigil/read-model';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type Query, wholeList } from '../../client.ts';
import { ticketLine } from '../../render/agents/explain.ts';
import { alertLine } from '../../render/fleet/alerts.ts';
import { ticketsTable } from '../../render/fleet/tickets.ts';
import { plainAll } from '../../render/plain.ts';
import { dashboard, endUnwell, type Json, print, showList, untilStopped, view } from '../../terminal.ts';
import { type PeriodOptions, withPeriod } from '../inspect/period.ts';
import { durationOption, path, type WriteOptions, withDecisionOptions, writeAndShow } from './options.ts';

const SEVERITIES = ['low', 'medium', 'high', 'critical'];

/** How long a command waits for its outcome, milliseconds: a tick, and the way through three services. */
const PATIENCE_MS = 15_000;
const LOOK_MS = 500;

const EXAMPLES = `
Triage dismisses a ticket, or escalates it to people. The agent is not notified, and continues.

Examples:
  vigil ticket list --agent worker-1
  vigil ticket file worker-1 --severity high --cause "edits one line again and again" --steps 12 --why "12 RETRY in a row"
  vigil ticket notify TICKET --urgency critical --why "the database is being dropped"`;

const FILE = `
Waits until triage has decided, for a quarter of a minute at most. --why is the reasoning of the judge.

Example:
  vigil ticket file worker-1 --severity high --cause "no new result" --steps 12 --why "12 RETRY in a row"`;

const LIST = `
The newest come first. DECISION is that of triage: escalated to people, dismissed, or still waits.

Examples:
  vigil ticket list
  vigil ticket list --since 24h
  vigil ticket list --agent worker-1 --json`;

const NOTIFY = `
Waits until the alert is there, for a quarter of a minute at most. --why is the text that people read.
\`vigil ticket list\` shows the tickets.

Example:
  vigil ticket notify TICKET --urgency critical --why "the database is being dropped"`;

type FileOptions = WriteOptions & {
  readonly severity: string;
  readonly cause: string;
  readonly action?: string;
  readonly evidence?: string;
  readonly steps?: number;
  readonly stall?: number;
  readonly id?: string;
};
type NotifyOptions = WriteOptions & { readonly urgency: string };

const count = (text: string): number => {
  const n = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(n))
    throw new InvalidArgumentError('Give a count from 0, such as 12.');
  return n;
};

export const register = (program: Command): void => {
  const tickets = program
    .command('ticket')
    .description('findings of an external judge, for triage and people')
    .addHelpText('after', EXAMPLES);
  const listing = tickets
    .command('list')
    .description('tickets, the newest first, with the decision of triage')
    .option('--agent <agent>', 'of one agent');
  withPeriod(listing, 'tickets that were filed')
    .option('--json', 'for programs')
    .addHelpText('after', LIST)
    .action(list);
  const file = tickets
    .command('file <agent>')
    .description('file a ticket about an agent')
    .addOption(new Option('--severity <severity>', 'how bad').choices(SEVERITIES).makeOptionMandatory())
    .requiredOption('--cause <text>', 'what is wrong')
    .option('--action <text>', 'what to do; otherwise human review')
    .option('--evidence <text>', 'a part of its output, at most 500 characters')
    .option('--steps <count>', 'steps since the last ACCEPT', count)
    .option('--stall <duration>', 'time without a step', durationOption)
    .option('--id <ticket>', 'the id of the ticket; otherwise a new one');
  withDecisionOptions(file).addHelpText('after', FILE).action(fileTicket);
  const notify = tickets
    .command('notify <ticket>')
    .description('notify people of a ticket, also of a dismissed one')
    .addOption(new Option('--urgency <urgency>', 'how urgent').choices(SEVERITIES).makeOptionMandatory());
  withDecisionOptions(notify).addHelpText('after', NOTIFY).action(notifyOperator);
};

/** Tickets of a page. */
const LIMIT = '1000';

type ListOptions = PeriodOptions & Json & { readonly agent?: string };

const list = ({ agent, json, since, until }: ListOptions): Promise<void> => {
  const query: Query = { agent, since: since?.toFixed(), until: until?.toFixed(), limit: LIMIT };
  return showList(json, ticketsTable, (client) => wholeList<TicketRow>(client, '/v1/tickets', 'tickets', query));
};

const fileTicket = async (agentId: string, options: FileOptions): Promise<void> => {
  const { severity, cause, action: suggestedAction, evidence, steps: stepsSinceAccept, stall: stallMs } = options;
  const ticketId = options.id ?? randomUUID();
  const ticket = { agentId, ticketId, severity, cause, suggestedAction, evidence, stepsSinceAccept, stallMs };
  const outcome = `vigil explain ${agentId}`;
  await writeAndShow({ kind: 'file_ticket', ...ticket }, options, () => ({
    requested: `the triage of ticket ${ticketId} about ${agentId}`,
    outcome: options.wait ? null : outcome,
  }));
  if (options.wait && options.json !== true) await shown(() => triaged(agentId, ticketId), outcome);
};

/** The ticket as triage has decided it; null: not yet. */
const triaged = async (agentId: string, ticketId: string): Promise<string | null> => {
  const { tickets } = await dashboard().get<{ tickets: readonly TicketRow[] }>(path('agents', agentId, 'explain'));
  const found = tickets.find((one) => one.ticketId === ticketId && one.answer !== null);
  return found === undefined ? null : ticketLine(view(), plainAll(found));
};

const notifyOperator = async (ticketId: string, options: NotifyOptions): Promise<void> => {
  const outcome = 'vigil alert list';
  const written = await writeAndShow({ kind: 'notify_operator', ticketId, urgency: options.urgency }, options, () => ({
    requested: `a notification of people about ticket ${ticketId}`,
    outcome: options.wait ? null : outcome,
  }));
  if (options.wait && options.json !== true) await shown(() => alerted(written.key, options.why), outcome);
};

/** The open alert of this key with this text; null: not yet. */
const alerted = async (alertKey: string, text: string): Promise<string | null> => {
  const { alerts } = await dashboard().get<{ alerts: readonly AlertRow[] }>('/v1/alerts', { open: 'true' });
  const found = alerts.find((one) => one.alertKey === alertKey && one.text === text);
  return found === undefined ? null : alertLine(view(), plainAll(found));
};

/** Prints the outcome when it is known. `outcome`: the command that shows it later. */
const shown = async (look: () => Promise<string | null>, outcome: string): Promise<void> => {
  const stop = untilStopped();
  for (let waited = 0; waited < PATIENCE_MS && !stop.aborted; waited += LOOK_MS) {
    const line = await look();
    if (line !== null) return print([line.trimStart()]);
    await pause(LOOK_MS, undefined, { signal: stop }).catch(() => {});
  }
  if (!stop.aborted) endUnwell();
  print([`Nothing is known of it yet. What becomes of it: ${outcome}`]);
};
