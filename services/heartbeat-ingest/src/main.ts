import { runService } from '@vigil/chassis';
import { type CheckProof, connectCodec, proofCheck, registryFrom } from '@vigil/events';
import { connectLog, kafkaFrom, runProcessor, topicsWritten } from '@vigil/stream';
import { type Config, config } from './config.ts';
import { createIngest } from './processor.ts';

const proofCheckFrom = ({
  VIGIL_PROOF_KEY: current,
  VIGIL_PROOF_KEY_PREVIOUS: previous,
}: Config): CheckProof | null => {
  const keys = [current, previous].filter((key) => key !== undefined);
  return keys.length === 0 ? null : proofCheck(keys);
};

await runService(process.env, {
  name: 'heartbeat-ingest',
  config,
  async start({ config, logger, count, use }) {
    const ingest = createIngest(proofCheckFrom(config));
    const codec = await connectCodec(registryFrom(config), topicsWritten(ingest));
    const log = await use(connectLog({ kafka: kafkaFrom(config), clientId: 'heartbeat-ingest', codec, logger }));
    const options = { partitions: config.VIGIL_PARTITIONS, paceMs: 20, logger, count };
    return { ingest: await use(runProcessor(log, ingest, options)) };
  },
});
