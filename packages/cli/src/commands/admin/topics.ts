import type { SchemaCheck } from '@vigil/events';
import type { Acl, TopicReport } from '@vigil/stream';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { kafkaOf, registryOf } from '../../config.ts';
import { CannotProceed } from '../../errors.ts';
import { endUnwell, type Json, show } from '../../terminal.ts';
import { ADMINISTRATION } from '../groups.ts';

type Apply = Json & { readonly partitions: number; readonly replicas: number };
type Reset = Json & { readonly to: 'beginning' | 'end' | number };

const EXAMPLES = `
They need Kafka only (KAFKA_BROKERS).

Examples:
  vigil topics plan
  vigil topics apply --partitions 8 --replicas 3
  vigil topics acls --apply
  vigil topics reset recovery onex.evt.health-evaluator.task-health.v1 0 --to beginning`;

const whole = (text: string): number => {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('use a whole number.');
  return Number(text);
};
const place = (text: string): Reset['to'] => (text === 'beginning' || text === 'end' ? text : whole(text));

/** A changed setting is shown with its current and its new value: the current value is lost. */
export const linesOf = ({ changes, keptLonger, tooFewReplicas }: TopicReport): readonly string[] => {
  const lines = changes.flatMap((each) => {
    const { topic, partitions, replicas, config } = each.planned;
    if (each.kind === 'create') return [`create  ${topic}  ${partitions} partitions, ${replicas} replicas each`];
    return Object.entries(each.from).map(([name, now]) => `configure  ${topic}  ${name} ${now} -> ${config[name]}`);
  });
  const few = tooFewReplicas.map(
    ({ topic, replicas, planned }) =>
      `too few replicas  ${topic}  ${replicas} of ${planned}: move its partitions with kafka-reassign-partitions`,
  );
  const longer = keptLonger.map(
    ({ topic, retentionMs, planned }) =>
      `keeps longer  ${topic}  retention.ms ${retentionMs} instead of ${planned}: it stays, because apply deletes no records`,
  );
  const all = [...lines, ...longer, ...few];
  return all.length === 0 ? ['Every topic is as it is to be.'] : all;
};

/** In the words of Kafka's own tool. */
export const aclLines = (acls: readonly Acl[]): readonly string[] =>
  acls.map(
    ({ principal, operation, resource, name, pattern }) =>
      `User:${principal}  ${operation}  ${resource}  ${name}${pattern === 'prefixed' ? '*' : ''}`,
  );

/** The Kafka client is loaded by these commands only: every other one starts without it. */
const stream = () => import('../../kafka.ts');

export const register = (program: Command): void => {
  const topics = program
    .command('topics')
    .helpGroup(ADMINISTRATION)
    .description("the topics themselves, and the processors' positions in them");
  topics.addHelpText('after', EXAMPLES);
  for (const [name, description, change] of [
    ['plan', 'show what apply would change', false],
    ['apply', 'create or change every topic as needed; no change deletes records or moves keys', true],
  ] as const)
    topics
      .command(name)
      .description(description)
      .addOption(
        new Option('--partitions <n>', 'of the agent and task key spaces')
          .env('VIGIL_PARTITIONS')
          .argParser(whole)
          .default(4),
      )
      .addOption(
        new Option('--replicas <n>', 'of each partition of a new topic')
          .env('VIGIL_REPLICAS')
          .argParser(whole)
          .default(3),
      )
      .option('--json', 'for programs')
      .action(async ({ json, ...wanted }: Apply) => {
        const report = await (await stream()).changeTopics(kafkaOf(process.env), wanted, change);
        show(json, report, () => linesOf(report));
      });
  topics
    .command('acls')
    .description('print what each service may read and write on the broker, which is all that it needs')
    .option('--apply', 'create these ACLs; others stay')
    .option('--json', 'for programs')
    .action(async ({ json, apply }: Json & { readonly apply?: boolean }) => {
      const acls = await (await stream()).aclsOn(apply === true ? kafkaOf(process.env) : null);
      show(json, acls, () => aclLines(acls));
    });
  topics
    .command('reset')
    .description('move the position of a processor; its state stays as it is')
    .argument('<processor>', 'such as health-evaluator or intervention-cases')
    .argument('<topic>')
    .argument('<partition>', '', whole)
    .requiredOption('--to <place>', 'beginning, end or an offset', place)
    .option('--json', 'for programs')
    .action(async (processor: string, topic: string, partition: number, { to, json }: Reset) => {
      const moved = await (await stream()).reset(kafkaOf(process.env), { processor, topic, partition, to });
      show(json, moved, () => [
        `${processor} continues in ${topic}/${partition} at ${moved.to}; it was at ${moved.from}.`,
      ]);
    });
  program
    .command('transactions')
    .helpGroup(ADMINISTRATION)
    .description('hanging transactions, which block readers of committed records')
    .option('--json', 'for programs')
    .addHelpText('after', TRANSACTIONS)
    .action(listHanging);
  const schemas = program.command('schemas').helpGroup(ADMINISTRATION).description('the contract in the registry');
  schemas.addHelpText('after', SCHEMAS);
  schemas
    .command('check')
    .description('compare every schema with the registry; exits with 1 if one is missing or incompatible')
    .option('--json', 'for programs')
    .action(checkAll);
  schemas
    .command('register')
    .description('register every schema at level FULL_TRANSITIVE; existing versions stay')
    .option('--json', 'for programs')
    .action(registerAll);
};

const SCHEMAS = `
They need the registry only (SCHEMA_REGISTRY_URL).

Examples:
  vigil schemas check
  vigil schemas register`;

const TRANSACTIONS = `
It needs only Kafka (KAFKA_BROKERS), takes 22 s, and changes nothing. It prints each hanging transaction with the command of
Kafka's own tool that ends it. Exits with 1 if a transaction hangs.`;

const listHanging = async ({ json }: Json): Promise<void> => {
  const settings = kafkaOf(process.env);
  const found = await (await stream()).findHanging(settings);
  const { hangingLines } = await import('../../render/fleet/doctor.ts');
  show(json, found, (hanging, view) => hangingLines(view, hanging, settings.KAFKA_BROKERS));
  if (found.length > 0) endUnwell();
};

/** Only what differs, and a summary. */
export const schemaLines = (checks: readonly SchemaCheck[]): readonly string[] => {
  const differing = checks.filter(({ kind }) => kind !== 'registered');
  const lines = differing.map(
    (one) => `${one.kind}  ${one.subject}${one.kind === 'incompatible' ? `  ${one.why}` : ''}`,
  );
  return [...lines, `${checks.length - differing.length} of ${checks.length} schemas are registered.`];
};

const checkAll = async ({ json }: Json): Promise<void> => {
  const { checkSchemas, registryFrom } = await import('@vigil/events');
  const checks = await checkSchemas(registryFrom(registryOf(process.env))).catch((cause: Error) => {
    throw new CannotProceed(cause.message, { cause });
  });
  show(json, checks, () => schemaLines(checks));
  if (checks.some(({ kind }) => kind !== 'registered')) endUnwell();
};

const registerAll = async ({ json }: Json): Promise<void> => {
  const { registerSchemas, registryFrom } = await import('@vigil/events');
  let count = 0;
  try {
    await registerSchemas(registryFrom(registryOf(process.env)), (_, of) => {
      count = of;
    });
  } catch (cause) {
    throw new CannotProceed((cause as Error).message, { cause });
  }
  show(json, { schemas: count }, () => [`${count} schemas are registered.`]);
};
