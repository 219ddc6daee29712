import { setTimeout as sleep } from 'node:timers/promises';
import { databaseSettings, kafkaSettings, readConfig } from '@vigil/chassis';
import { connectCodec, registryFrom, Topic } from '@vigil/events';
import { databaseUrlFrom } from '@vigil/read-model';
import { connectLog, kafkaFrom } from '@vigil/stream';
import { z } from 'zod';
import { historySettings } from '../config.ts';
import { rebuild } from './rebuild.ts';

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const warn = (about: object, text: string): void => void process.stderr.write(`${text} ${JSON.stringify(about)}\n`);
const logger = { debug: () => {}, info: () => {}, warn, error: warn };

const config = readConfig(z.object({ ...kafkaSettings, ...databaseSettings, ...historySettings }), process.env);
const codec = await connectCodec(registryFrom(config), [Topic.dlqProjector]);
await using log = await connectLog({ kafka: kafkaFrom(config), clientId: 'vigil-projector-rebuild', codec, logger });
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
