import { databaseSettings, kafkaSettings, runService } from '@vigil/chassis';
import { connectCodec, Topic } from '@vigil/events';
import { openDatabase } from '@vigil/read-model';
import { connectLog, runProjection } from '@vigil/stream';
import { z } from 'zod';
import { reads } from './project.ts';
import { rowsIn } from './rows.ts';

await runService(process.env, {
  name: 'projector',
  config: z.object({ ...kafkaSettings, ...databaseSettings }),
  async start({ config, logger, count, use }) {
    const codec = await connectCodec(config.SCHEMA_REGISTRY_URL, [Topic.dlqProjector]);
    const log = await use(connectLog({ brokers: config.KAFKA_BROKERS, clientId: 'vigil-projector', codec, logger }));
    const onTrouble = (err: Error) => logger.warn({ err }, 'a connection to Postgres broke');
    const database = await use(openDatabase(config.DATABASE_URL, onTrouble));
    const options = { group: 'projector', service: 'projector', reads, logger, count, ...rowsIn(database) };
    return { projection: await use(runProjection(log, options)) };
  },
});
