import { databaseSettings, defineService, logSettings, openLog, showFleet, waitAtStart } from '@vigil/chassis';
import { Topic } from '@vigil/events';
import { keepHistory, reads, rowsIn, storeProjected } from '@vigil/projection';
import { databaseUrlFrom, openDatabase } from '@vigil/read-model';
import { runProjection } from '@vigil/stream';
import { historySettings } from './config.ts';
import { fleetIn } from './shown.ts';

/** The service, for a process of its own or with others. */
export const projector = defineService({
  name: 'projector',
  config: logSettings({ ...databaseSettings, ...historySettings }),
  async start({ config, logger, signal, count, use }) {
    const writes = [Topic.dlqProjector];
    const log = await use(openLog(config, { clientId: 'vigil-projector', writes, logger, signal, now: Date.now }));
    const onTrouble = (err: Error) => logger.warn({ err }, 'a connection to Postgres broke');
    const url = databaseUrlFrom(config);
    const opening = () => openDatabase(url, onTrouble, 0);
    const database = await use(waitAtStart('Postgres', opening, { logger, signal }));
    showFleet(fleetIn(database));
    const { onTime, [Symbol.dispose]: stop } = storeProjected(database, logger);
    signal.addEventListener('abort', stop, { once: true });
    await use(keepHistory(database, config.VIGIL_HISTORY_DAYS, logger));
    const options = { group: 'projector', service: 'projector', reads, logger, count, onTime, ...rowsIn(database) };
    return { projection: await use(runProjection(log, options)) };
  },
});
