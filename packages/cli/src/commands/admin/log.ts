import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { kafkaOf, registryOf } from '../../config.ts';
import { CannotProceed } from '../../errors.ts';
import { type Json, show, untilStopped } from '../../terminal.ts';
import { ADMINISTRATION } from '../groups.ts';

const EXAMPLES = `
The export is a copy of the log of one machine (VIGIL_LOG_FILE), consistent also while Vigil runs. The import writes it to Kafka (KAFKA_BROKERS,
SCHEMA_REGISTRY_URL), into topics that nothing has written. Keys, order, times, offsets and versions of events stay, and processors
continue where they were. Start the services on Kafka with an empty database: it is built again from the topics.

Examples:
  vigil log export fleet.db
  vigil topics apply && vigil schemas register && vigil log import fleet.db`;

export const register = (program: Command): void => {
  const log = program
    .command('log')
    .helpGroup(ADMINISTRATION)
    .description("take a fleet's history from the log of one machine to Kafka")
    .addHelpText('after', EXAMPLES);
  log
    .command('export')
    .description('copy the log of this machine into a new file')
    .argument('<file>')
    .option('--json', 'for programs')
    .action(exportLog);
  log
    .command('import')
    .description('write an exported log to Kafka')
    .argument('<file>')
    .option('--json', 'for programs')
    .action(importLog);
};

const exportLog = async (file: string, { json }: Json): Promise<void> => {
  const { VIGIL_LOG_FILE: path } = process.env;
  if (!path)
    throw new CannotProceed(
      'VIGIL_LOG_FILE is not set: give the file of the log, or start Vigil here (vigil up --embedded).',
    );
  if (!existsSync(path)) throw new CannotProceed(`VIGIL_LOG_FILE names ${path}, which does not exist.`);
  if (existsSync(file)) throw new CannotProceed(`${file} exists, and is not overwritten: give another name.`);
  const { copyFileLog } = await import('../../file-log.ts');
  copyFileLog(path, file);
  show(json, { file }, () => [`The log is in ${file}.`]);
};

/** One line on a terminal, which each step replaces. */
const progress = (done: number, of: number): void => {
  if (process.stderr.isTTY)
    process.stderr.write(`\r${done} of ${of} records (${Math.floor((100 * done) / of)} %)\u001b[K`);
};

const importLog = async (file: string, { json }: Json): Promise<void> => {
  if (!existsSync(file)) throw new CannotProceed(`${file} does not exist.`);
  const settings = { kafka: kafkaOf({ ...process.env, VIGIL_LOG_FILE: undefined }), registry: registryOf(process.env) };
  const { importInto } = await import('../../import-log.ts');
  const result = await importInto(settings, file, { onProgress: progress, signal: untilStopped() });
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');
  show(json, result, ({ topics, records, groups }) => [
    `${records} records of ${topics} topics are written, and the offsets of ${groups} groups.`,
  ]);
};
