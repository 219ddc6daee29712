import { runService } from '@vigil/chassis';
import { connectCodec, registryFrom } from '@vigil/events';
import { databaseUrlFrom, openDatabase } from '@vigil/read-model';
import { connectLog, kafkaFrom } from '@vigil/stream';
import { WRITTEN } from './commands/command.ts';
import { config } from './config.ts';
import { openDashboard } from './dashboard.ts';

/** Before a caller gives up: `vigil health` waits for 3.5 s. */
const ANSWER_LIMIT_MS = 3000;

await runService(process.env, {
  name: 'dashboard',
  config,
  async start({ config, logger, signal, use }) {
    const codec = await connectCodec(registryFrom(config), WRITTEN);
    const log = await use(connectLog({ kafka: kafkaFrom(config), clientId: 'vigil-dashboard', codec, logger }));
    const onTrouble = (err: Error) => logger.warn({ err }, 'a connection to Postgres broke');
    const database = await use(openDatabase(databaseUrlFrom(config), onTrouble, ANSWER_LIMIT_MS));
    const api = await use(openDashboard(log, database, config, { logger, signal, now: Date.now }));
    logger.info({ url: api.url }, 'the dashboard answers');
    return { api };
  },
});
