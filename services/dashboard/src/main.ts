import { listen, runService } from '@vigil/chassis';
import { connectCodec } from '@vigil/events';
import { openDatabase, readModel } from '@vigil/read-model';
import { connectLog, writer } from '@vigil/stream';
import { openApp } from './app.ts';
import { config } from './config.ts';
import { examine } from './doctor.ts';
import { openFeed } from './feed.ts';
import { watchTransactions } from './hanging.ts';
import { signalsFrom } from './signals.ts';

await runService(process.env, {
  name: 'dashboard',
  config,
  async start({ config, log: logger, signal, use }) {
    const codec = await connectCodec(config.SCHEMA_REGISTRY_URL);
    const log = await use(connectLog({ brokers: config.KAFKA_BROKERS, clientId: 'vigil-dashboard', codec, logger }));
    const onTrouble = (err: Error) => logger.warn({ err }, 'a connection to Postgres broke');
    const model = readModel(await use(openDatabase(config.DATABASE_URL, onTrouble)));
    const write = async (draft: Parameters<ReturnType<typeof writer>['write']>[0][number]) =>
      String(await writer(log).write([draft]));
    const onFailure = (err: unknown) => logger.error({ err }, 'a request failed');
    const hanging = watchTransactions(log, signal, logger);
    const doctor = () => examine({ log, model, probes: config.VIGIL_PROBES, hanging, now: Date.now });
    const signalsOf = signalsFrom(log, model, onFailure);
    const feed = await openFeed(log, signal, onFailure);
    const { VIGIL_DASHBOARD_TOKEN: token } = config;
    const app = openApp({ token, model, feed, write, doctor, signalsOf, now: Date.now, onFailure, signal });
    await use({ [Symbol.asyncDispose]: () => app.close() });
    const url = await listen(app, config.VIGIL_DASHBOARD_HOST, config.VIGIL_DASHBOARD_PORT, 'VIGIL_DASHBOARD_PORT');
    logger.info({ url }, 'the dashboard answers');
    return { api: { ready: feed.ready, finished: feed.finished } };
  },
});
