import { setTimeout as sleep } from 'node:timers/promises';
import type { AlertRow, Knowledge, SilenceRow } from '@vigil/read-model';
import { fieldOf } from '@vigil/read-model/matchers';
import { type Command, InvalidArgumentError } from 'commander';
import { wholeList } from '../../client.ts';
import { Refusal } from '../../errors.ts';
import { testChannel, testedLine } from '../../init/test-channels.ts';
import { alertsNamed, alertsTable, silenceLines } from '../../render/fleet/alerts.ts';
import { overlaps } from '../../render/period.ts';
import { plain, plainAll } from '../../render/plain.ts';
import { dashboard, endUnwell, type Json, show, showAged, view } from '../../terminal.ts';
import { type PeriodOptions, periodOf, withPeriod } from '../inspect/period.ts';
import { type SelectionOptions, selectionQuery, withSelection } from '../inspect/selection.ts';
import { durationOption, type WriteOptions, withDecisionOptions, withWriteOptions, write } from './options.ts';

const EXAMPLES = `
ALERT is its id, the beginning of it, or the agent or the task of an open alert, where it has one only.

Examples:
  vigil alert list
  vigil alert list --all --since 24h
  vigil alert list --host build-7 --label team=core
  vigil alert ack 56c342cd --why "I look at it"
  vigil alert ack worker-1 --why "I look at it"
  vigil alert resolve ALERT --why "the host is gone"
  vigil alert silence route=stuck_agent team=red --for 2h --why "a migration"
  vigil alert silence --end SILENCE --why "it is done"
  vigil alert test ops
  vigil alert check alerts.yaml`;

const CHECK = `
The file is that of VIGIL_ALERTS_FILE unless another is given. It is read as alerting reads it at its start, without a server.
A secret whose variable or file is not on this machine is shown, and is not a mistake. No secret is printed.

Examples:
  vigil alert check
  vigil alert check vigil/alerts.yaml
  vigil alert check alerts.yaml --json`;

type ListOptions = PeriodOptions & SelectionOptions & Json & { readonly all?: boolean };

const SILENCE = `
An alert that has all of these fields or labels is not delivered until the silence ends. It exists regardless: \`vigil alert list\` shows it.
Fields: route, severity, agent, task, case, title; any other name is a label.

Examples:
  vigil alert silence route=stuck_agent team=red --for 2h --why "a migration"
  vigil alert silence --end SILENCE --why "it is done"`;

/** The reader of the file is loaded by this command only. */
const channels = () => import('../../channels/check.ts');

export const register = (program: Command): void => {
  const alerts = program.command('alert').description('alerts to people, and silences').addHelpText('after', EXAMPLES);
  const listing = alerts
    .command('list')
    .description('unresolved alerts, and silences with their end')
    .option('--all', 'include resolved alerts');
  withPeriod(withSelection(listing, 'alerts'), 'alerts that were open').option('--json', 'for programs').action(list);
  withWriteOptions(
    alerts.command('ack <alert>').description('acknowledge an alert, by its id, agent or task: it is not repeated'),
  ).action(async (name: string, options: WriteOptions) => {
    const alertId = await idOf(name);
    const request = { requested: `the acknowledgement of alert ${alertId}`, outcome: 'vigil alert list' };
    return write({ kind: 'acknowledge', alertId }, request, options);
  });
  withDecisionOptions(
    alerts
      .command('resolve <alert>')
      .description('end an alert by hand, by its id, agent or task; a later report raises a new one'),
  ).action(async (name: string, options: WriteOptions) => {
    const alertId = await idOf(name);
    const request = { requested: `the end of alert ${alertId}`, outcome: 'vigil alert list' };
    return write({ kind: 'resolve_alert', alertId }, request, options);
  });
  withDecisionOptions(
    alerts
      .command('silence [matchers...]')
      .description('hold back deliveries of matching alerts, or end a silence')
      .option('--for <duration>', 'how long, at most 30 days', durationOption)
      .option('--end <silence>', 'end this silence')
      .addHelpText('after', SILENCE),
  ).action(silence);
  alerts
    .command('check [file]')
    .description('report every mistake in a file of channels; exits with 1 if there is one')
    .option('--json', 'for programs')
    .addHelpText('after', CHECK)
    .action(async (file: string | undefined, options: Json) => (await channels()).check(file, options));
  withWriteOptions(alerts.command('test <channel>').description('send a test message to a channel')).action(test);
};

/**
 * The id of the open alert that a person names by it, by its beginning, or by an agent or a task that has no other. Throws
 * Refusal where several have the name.
 */
const idOf = async (name: string): Promise<string> => {
  const open = await wholeList<AlertRow>(dashboard(), '/v1/alerts', 'alerts', { open: 'true' });
  const named = alertsNamed(open, name);
  // The dashboard has a reason for each alert that is not open.
  const [first = { alertId: name }, ...others] = named;
  if (others.length === 0) return first.alertId;
  const lines = alertsTable(view(), plainAll(named)).map((line) => `\n  ${line}`);
  throw new Refusal(`${JSON.stringify(name)} names ${named.length} open alerts; give the id of one:${lines.join('')}`);
};

/** Waits for the delivery. Ends with 1 if the message is not delivered. */
const test = async (channel: string, options: WriteOptions): Promise<void> => {
  const { by, why, json, wait } = options;
  const request = { requested: `a test message to ${channel}`, outcome: 'vigil alert list --all' };
  if (!wait) return write({ kind: 'test_channel', channel }, request, options);
  const deps = { client: dashboard(), by, why, now: () => performance.now(), pause: sleep };
  const tested = await testChannel(channel, deps);
  show(json, tested, (one) => [plain(testedLine(one))]);
  if (tested.outcome !== 'delivered') endUnwell();
};

const list = async (options: ListOptions): Promise<void> => {
  const { all, json } = options;
  const open = all ? undefined : 'true';
  const client = dashboard();
  const [alerts, { silences }, { knowledge }] = await Promise.all([
    wholeList<AlertRow>(client, '/v1/alerts', 'alerts', { open, ...selectionQuery(options) }),
    client.get<{ silences: readonly SilenceRow[] }>('/v1/silences'),
    client.get<{ knowledge: Knowledge }>('/v1/fleet'),
  ]);
  const period = periodOf(options);
  const shown = alerts.filter(({ raisedAt, resolvedAt }) => overlaps(period, raisedAt, resolvedAt));
  showAged(json, { alerts: shown, silences }, knowledge, (rows, screen) => [
    ...alertsTable(screen, rows.alerts),
    ...silenceLines(screen, rows.silences),
  ]);
};

type SilenceOptions = WriteOptions & { readonly for?: number; readonly end?: string };

const silence = async (texts: readonly string[], { for: forMs, end, ...options }: SilenceOptions): Promise<void> => {
  if (end !== undefined) {
    if (texts.length > 0 || forMs !== undefined)
      throw new InvalidArgumentError('--end ends one silence: leave out matchers and --for.');
    const request = { requested: `the end of silence ${end}`, outcome: 'vigil alert list' };
    return write({ kind: 'end_silence', silenceId: end }, request, options);
  }
  if (texts.length === 0 || forMs === undefined)
    throw new InvalidArgumentError('Give at least one matcher and --for, such as route=stuck_agent --for 2h.');
  const matchers = texts.map(matcherOf);
  const request = { requested: `a silence of ${texts.join(' ')}`, outcome: 'vigil alert list' };
  return write({ kind: 'silence', matchers, forMs }, request, options);
};

const matcherOf = (text: string): { readonly field: string; readonly value: string } => {
  const at = text.indexOf('=');
  if (at < 1 || at === text.length - 1)
    throw new InvalidArgumentError(
      `${JSON.stringify(text)} is not a matcher: write FIELD=VALUE, such as route=stuck_agent.`,
    );
  const field = text.slice(0, at);
  return { field: fieldOf(field), value: text.slice(at + 1) };
};
