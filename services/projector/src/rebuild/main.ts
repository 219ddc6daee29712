import { setTimeout as sleep } from 'node:timers/promises';
import { databaseSettings, logSettings, openLog, readConfig } from '@vigil/chassis';
import { Topic } from '@vigil/events';
import { databaseUrlFrom } from '@vigil/read-model';
import { historySettings } from '../config.ts';
import { rebuild } from './rebuild.ts';

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const warn = (about: object, text: string): void => void process.stderr.write(`${text} ${JSON.stringify(about)}\n`);
const logger = { debug: () => {}, info: () => {}, warn, error: warn };

const config = readConfig(logSettings({ ...databaseSettings, ...historySettings }), process.env);
const writes = [Topic.dlqProjector];
await using log = await openLog(config, { clientId: 'vigil-projector-rebuild', writes, logger, now: Date.now });
let last = '';
await rebuild(log, databaseUrlFrom(config), {
  logger,
  historyDays: config.VIGIL_HISTORY_DAYS,
  wait: () => sleep(1000),
  onProgress: (complete, all) => {
    const line = `${complete} of ${all} partitions are complete`;
    if (line !== last) print(line);
    last = line;
  },
});
print('switched: the rebuilt rows are in use, and the previous ones are in the schema vigil_before');
