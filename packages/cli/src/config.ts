import { CannotAsk } from './errors.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export type DashboardSettings = { readonly url: string; readonly token: string };

const DASHBOARD = 'http://127.0.0.1:7420';

/** Where the dashboard is, and the token it asks for. Throws CannotAsk. */
export function dashboardSettings(env: Environment): DashboardSettings {
  const url = env.VIGIL_DASHBOARD_URL || DASHBOARD;
  if (!URL.canParse(url)) throw new CannotAsk(`VIGIL_DASHBOARD_URL is ${JSON.stringify(url)}: give http://host:port.`);
  const token = env.VIGIL_DASHBOARD_TOKEN;
  if (!token)
    throw new CannotAsk('VIGIL_DASHBOARD_TOKEN is not set: give the token that the dashboard was started with.');
  return { url, token };
}

/** The Kafka that `--direct` writes to. Throws CannotAsk. */
export function directSettings(env: Environment): { readonly brokers: readonly string[]; readonly registry: string } {
  const { KAFKA_BROKERS: brokers, SCHEMA_REGISTRY_URL: registry } = env;
  if (!brokers) throw new CannotAsk('KAFKA_BROKERS is not set: --direct writes to Kafka itself; give host:port[,…].');
  if (!registry)
    throw new CannotAsk('SCHEMA_REGISTRY_URL is not set: --direct needs it to write what others can read.');
  return { brokers: brokers.split(',').map((broker) => broker.trim()), registry };
}
