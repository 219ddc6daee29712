import { type Command, InvalidArgumentError, Option } from 'commander';
import { ADMINISTRATION } from '../groups.ts';
import { instantOption, withPeriod } from './period.ts';

const SOURCE = `
It reads the log itself (KAFKA_BROKERS and SCHEMA_REGISTRY_URL, or VIGIL_LOG_FILE), outside any consumer group, and changes nothing.
The state of an agent follows from all of its reports, so everything stored up to --to is read. An agent that was known before
the first stored observation is named and left out. Observations are kept for 7 days.`;

const VERIFY = `${SOURCE}
It compares every event of the evaluator with the recorded one: cause, number, time, policy and content, but not the correlation id.
Exits with 0 if all are the same, with 1 if an agent differs; its first difference is shown with the record that caused it.

Examples:
  vigil replay verify
  vigil replay verify --from 2h --agent worker-1
  vigil replay verify --file incident.ndjson.gz --json`;

const WHAT_IF = `${SOURCE}
The span is folded twice: under the recorded policies, and under --policy from --from on. Both begin with the same states.
Each agent is compared up to the first different act: a plan that begins, changes or ends. The comparison ends there, because
another act would have led to other reports. So it shows which act would not have happened, and not what that would have changed.

Examples:
  vigil replay what-if --policy ./strict.yaml --from 24h
  vigil replay what-if --policy vigil --instead-of demo --agent worker-1
  vigil replay what-if --policy ./strict.yaml --file incident.ndjson.gz --json`;

const EXPORT = `${SOURCE}
The file begins with the agents as they were at --from. It has the policies, the observations and the decisions of the span.
It is gzipped lines of JSON, readable for you only. --file of the other commands reads it, on any machine and without servers.
It has what agents report: names of agents, tasks, hosts, tools and files, error messages, and lines of output. It has texts that
agents and people wrote, too, but no arguments or results of calls, and no tokens of Vigil. Look at it before you pass it on.

Examples:
  vigil replay export --from 2h --out incident.ndjson.gz
  vigil replay export --from 2026-11-27T14:00Z --to 2026-11-27T15:00Z --agent worker-1 --out worker-1.ndjson.gz`;

const DEAD_LETTERS = `
It reads the dead letters from the log itself (KAFKA_BROKERS, SCHEMA_REGISTRY_URL), and writes the record of each to its topic again,
under its key. Do this after the fault is repaired. All services that read the topic read the record again, with its event id.
The record has the headers \`replayed\` (the id of its dead letter) and \`moved\` (when it was first received). It becomes visible together
with a mark beside its dead letter, so none is written twice, also after a stop or beside another replay.
Refused, with the reason: a dead letter that was replayed, one without its whole record, and a record that this version cannot read either.
With access control lists it needs a principal of its own, because \`cli\` may not write these topics: docs/between-servers.md has its permissions.

Examples:
  vigil replay dead-letters --dry-run
  vigil replay dead-letters --service intervention --reason undecided --since 2h --rate 5
  vigil replay dead-letters onex.dlq.intervention.dead-letter.v1/0/17`;

const REBUILD = `
It needs what the projector has: KAFKA_BROKERS and SCHEMA_REGISTRY_URL (or VIGIL_LOG_FILE), DATABASE_URL, and VIGIL_HISTORY_DAYS where it is set.
It writes new rows beside those in use, and switches to them in one transaction. Readers find the old rows or the new ones, never a part.
The old rows stay in the schema vigil_before until the next rebuild. An interrupted rebuild changes nothing, and the next one begins again.
Run one rebuild at a time. Heartbeats and calls older than 7 days are in the old rows only, because their topics do not have them.
Without --yes it shows what it would do, changes nothing, and exits with 1. Progress is on standard error.
With access control lists it needs the principal \`projector\`, and a user of Postgres that owns the tables.

Examples:
  vigil replay rebuild
  vigil replay rebuild --yes
  vigil replay rebuild --yes --json`;

const MOST_A_SECOND = 1000;

const rateOption = (text: string): number => {
  const rate = Number(text);
  if (text.trim() === '' || !(rate > 0 && rate <= MOST_A_SECOND))
    throw new InvalidArgumentError(`Give records a second, above 0 and at most ${MOST_A_SECOND}.`);
  return rate;
};

/** Adds the options of a span. */
const withSpan = (command: Command): Command =>
  command
    .option('--from <time>', 'from then on: 2h ago, or a time such as 2026-11-27T14:00Z', instantOption)
    .option('--to <time>', 'until then', instantOption)
    .option('--agent <agent>', 'of one agent')
    .option('--json', 'for programs');

/** Adds the choice of another source than the log. */
const withFile = (command: Command): Command =>
  command.option('--file <file>', 'an exported span instead of the log; - is standard input');

export const register = (program: Command): void => {
  const replay = program
    .command('replay')
    .helpGroup(ADMINISTRATION)
    .description(
      'read the log again: compare decisions, try another policy, export a span, replay dead letters, rebuild the rows',
    );
  // Judgement and the Kafka client are loaded by these commands only: every other one starts without them.
  withSpan(withFile(replay.command('verify').description('compare the recorded decisions with those of this version')))
    .addHelpText('after', VERIFY)
    .action(async (options) => (await import('../../replay/verify.ts')).verifySpan(options));
  withSpan(
    withFile(
      replay
        .command('what-if')
        .description('judge a span under another policy, beside the recorded ones')
        .requiredOption('--policy <policy>', "a preset's name, or the path of a policy"),
    ),
  )
    .option('--instead-of <policy>', 'only for agents of this recorded policy (default: for all)')
    .addHelpText('after', WHAT_IF)
    .action(async (options) => (await import('../../replay/what-if.ts')).judgeOtherwise(options));
  withPeriod(
    replay
      .command('dead-letters')
      .description('write the records of dead letters to their topics again')
      .argument('[letter...]', 'ids of `vigil dlq list`; none: all within the filters')
      .option('--service <service>', 'of one service')
      .option('--topic <topic>', 'of records of one topic')
      .option('--reason <reason>', 'with one reason')
      .option('--key <key>', 'of one agent or task')
      .addOption(new Option('--rate <number>', 'records a second').argParser(rateOption).default(10))
      .option('--dry-run', 'list them, and write nothing')
      .option('--json', 'for programs'),
    'those that came',
  )
    .addHelpText('after', DEAD_LETTERS)
    .action(async (letters, options) => (await import('../../replay/dead-letters.ts')).replayLetters(letters, options));
  withSpan(
    replay
      .command('export')
      .description('write a span of the log into a file')
      .requiredOption('--out <file>', 'the file to write, which must not exist'),
  )
    .addHelpText('after', EXPORT)
    .action(async (options) => (await import('../../replay/export.ts')).exportTo(options));
  replay
    .command('rebuild')
    .description('build the rows of the read model again from the topics')
    .option('--yes', 'rebuild; without it, nothing is changed')
    .option('--json', 'for programs')
    .addHelpText('after', REBUILD)
    .action(async (options) => (await import('../../replay/rebuild.ts')).rebuildReadModel(options));
};
