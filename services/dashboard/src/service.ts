import { defineService, openLog, waitAtStart } from '@vigil/chassis';
import { databaseUrlFrom, openDatabase } from '@vigil/read-model';
import { WRITTEN } from './commands/command.ts';
import { config } from './config.ts';
import { openDashboard } from './dashboard.ts';

/** Before a caller gives up: `vigil health` waits for 3.5 s. */
const ANSWER_LIMIT_MS = 3000;

/** The service, for a process of its own or with others. */
export const dashboard = defineService({
  name: 'dashboard',
  config,
  async start({ config, logger, signal, use }) {
    const log = await use(
      openLog(config, { clientId: 'vigil-dashboard', writes: WRITTEN, logger, signal, now: Date.now }),
    );
    const onTrouble = (err: Error) => logger.warn({ err }, 'a connection to Postgres broke');
    const url = databaseUrlFrom(config);
    const opening = () => openDatabase(url, onTrouble, ANSWER_LIMIT_MS);
    const database = await use(waitAtStart('Postgres', opening, { logger, signal }));
    const api = await use(openDashboard(log, database, config, { logger, signal, now: Date.now }));
    logger.info({ url: api.url }, 'the dashboard answers');
    return { api };
  },
});
