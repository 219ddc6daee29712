import { CannotProceed } from './errors.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** An HTTP API of Vigil: its name, and the variables that set its address and token. */
export type ServerSettings = { readonly server: 'dashboard' | 'gateway'; readonly url: string; readonly token: string };

const DASHBOARD = 'http://127.0.0.1:7420';
const GATEWAY = 'http://127.0.0.1:7410';

/** The address of the dashboard, and the token that it requires. Throws CannotProceed. */
export const dashboardSettings = (env: Environment): ServerSettings => {
  const url = env.VIGIL_DASHBOARD_URL || DASHBOARD;
  if (!URL.canParse(url))
    throw new CannotProceed(`VIGIL_DASHBOARD_URL is ${JSON.stringify(url)}: give http://host:port.`);
  const token = env.VIGIL_DASHBOARD_TOKEN;
  if (!token)
    throw new CannotProceed(
      'VIGIL_DASHBOARD_TOKEN is not set. Start Vigil here (npm start), or give the token of the dashboard elsewhere.',
    );
  return { server: 'dashboard', url, token };
};

/** The address of the gateway, and the operator's token. Throws CannotProceed. */
export const gatewaySettings = (env: Environment): ServerSettings => {
  const url = env.VIGIL_GATEWAY_URL || GATEWAY;
  if (!URL.canParse(url))
    throw new CannotProceed(`VIGIL_GATEWAY_URL is ${JSON.stringify(url)}: give http://host:port.`);
  const token = env.VIGIL_GATEWAY_TOKEN;
  if (!token)
    throw new CannotProceed(
      "VIGIL_GATEWAY_TOKEN is not set. Start Vigil here (npm start), or give the operator's token of the gateway elsewhere.",
    );
  return { server: 'gateway', url, token };
};

/** The Kafka cluster that a command connects to itself. Throws CannotProceed. */
export const brokersOf = ({ KAFKA_BROKERS: brokers }: Environment): readonly string[] => {
  if (!brokers) throw new CannotProceed('KAFKA_BROKERS is not set: this speaks to Kafka itself; give host:port[,…].');
  return brokers.split(',').map((broker) => broker.trim());
};

/** Throws CannotProceed. */
export const registryOf = ({ SCHEMA_REGISTRY_URL: registry }: Environment): string => {
  if (!registry) throw new CannotProceed('SCHEMA_REGISTRY_URL is not set: give the address that the services use.');
  return registry;
};

/** What `--direct` writes to, in bytes that others can read. Throws CannotProceed. */
export const directSettings = (
  env: Environment,
): { readonly brokers: readonly string[]; readonly registry: string } => ({
  brokers: brokersOf(env),
  registry: registryOf(env),
});
