import { kafkaSettings, runService } from '@vigil/chassis';
import { connectCodec, registryFrom } from '@vigil/events';
import { connectLog, kafkaFrom, runProcessor, topicsWritten } from '@vigil/stream';
import { z } from 'zod';
import { countDecided } from './counted.ts';
import { processor } from './processor.ts';

await runService(process.env, {
  name: 'recovery',
  config: z.object(kafkaSettings),
  async start({ config, logger, count, use }) {
    const codec = await connectCodec(registryFrom(config), topicsWritten(processor));
    const log = await use(connectLog({ kafka: kafkaFrom(config), clientId: 'recovery', codec, logger }));
    const onCommitted = countDecided(count);
    const options = { partitions: config.VIGIL_PARTITIONS, logger, count, onCommitted };
    return { recovery: await use(runProcessor(log, processor, options)) };
  },
});
