import { databaseSettings, kafkaSettings, runService, showFleet } from '@vigil/chassis';
import { connectCodec, registryFrom, Topic } from '@vigil/events';
import { databaseUrlFrom, openDatabase } from '@vigil/read-model';
import { connectLog, kafkaFrom, runProjection } from '@vigil/stream';
import { z } from 'zod';
import { historySettings } from './config.ts';
import { keepHistory } from './history.ts';
import { reads } from './project.ts';
import { storeProjected } from './projected.ts';
import { rowsIn } from './rows.ts';
import { fleetIn } from './shown.ts';

await runService(process.env, {
  name: 'projector',
  config: z.object({ ...kafkaSettings, ...databaseSettings, ...historySettings }),
  async start({ config, logger, signal, count, use }) {
    const codec = await connectCodec(registryFrom(config), [Topic.dlqProjector]);
    const log = await use(connectLog({ kafka: kafkaFrom(config), clientId: 'vigil-projector', codec, logger }));
    const onTrouble = (err: Error) => logger.warn({ err }, 'a connection to Postgres broke');
    const database = await use(openDatabase(databaseUrlFrom(config), onTrouble, 0));
    showFleet(fleetIn(database));
    const { onTime, [Symbol.dispose]: stop } = storeProjected(database, logger);
    signal.addEventListener('abort', stop, { once: true });
    await use(keepHistory(database, config.VIGIL_HISTORY_DAYS, logger));
    const options = { group: 'projector', service: 'projector', reads, logger, count, onTime, ...rowsIn(database) };
    return { projection: await use(runProjection(log, options)) };
  },
});
