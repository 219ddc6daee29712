import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { root } from '../paths.ts';
import { SERVICES, START_SYSTEM_PORTS, serviceEnv } from '../system/services.ts';
import { KAFKA_VERSION, REGISTRY_VERSION } from './artifacts.ts';
import { asEnvironment, brokerSettings } from './kafka/broker-settings.ts';
import { START_PORTS } from './servers.ts';

type Container = {
  image: string;
  command?: string[];
  ports?: string[];
  volumes?: unknown[];
  environment: Record<string, string>;
};
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');
const compose: { services: Record<string, Container> } = parse(read('docker-compose.yml'), { merge: true });
const container = (name: string): Container => compose.services[name]!;

it('the containers are of the versions that run as local processes', () => {
  expect(container('kafka').image).toBe(`apache/kafka:${KAFKA_VERSION}`);
  expect(container('registry').image).toBe(`apicurio/apicurio-registry:${REGISTRY_VERSION}`);
});

it('the broker has the same settings in a container, and one listener more', () => {
  const { KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: map = '', ...same } = asEnvironment(brokerSettings);
  expect(container('kafka').environment).toMatchObject(same);
  expect(container('kafka').environment.KAFKA_LISTENER_SECURITY_PROTOCOL_MAP).toBe(`${map},HOST:PLAINTEXT`);
});

it('servers and ingresses have the same ports in containers as without', () => {
  const port = (name: string): string | undefined => container(name).ports?.[0]?.split(':')[1];
  expect(port('kafka')).toBe(String(START_PORTS.kafka));
  expect(port('registry')).toBe(String(START_PORTS.registry));
  expect(port('postgres')).toBe(String(START_PORTS.postgres));
  expect(port('gateway')).toBe(String(START_SYSTEM_PORTS.gateway));
  expect(port('dashboard')).toBe(String(START_SYSTEM_PORTS.dashboard));
});

/** With `npm start` it takes them from its starter. */
const alertingHas = ['VIGIL_ALERTS_FILE', 'VIGIL_DASHBOARD_URL', 'VIGIL_WEBHOOK_SECRET'];

const named = (variable: string): boolean =>
  !['VIGIL_GATEWAY_URL', 'VIGIL_DASHBOARD_URL', 'VIGIL_PROBE_PORT'].includes(variable);
const servers = {
  KAFKA_BROKERS: '',
  SCHEMA_REGISTRY_URL: '',
  DATABASE_URL: '',
  VIGIL_PARTITIONS: '',
  VIGIL_REPLICAS: '',
};
const client = {
  VIGIL_GATEWAY_URL: '',
  VIGIL_GATEWAY_TOKEN: '',
  VIGIL_GATEWAY_SECRET: '',
  VIGIL_DASHBOARD_URL: '',
  VIGIL_DASHBOARD_TOKEN: '',
};

for (const name of SERVICES) {
  const expected = Object.keys(serviceEnv(START_SYSTEM_PORTS, client, servers, ''))
    .filter(named)
    .sort();

  it(`${name} runs in compose with the variables that npm start gives it`, () => {
    expect(container(name).command).toEqual(['node', `services/${name}/src/main.ts`]);
    const own = name === 'alerting' ? alertingHas : [];
    expect(Object.keys(container(name).environment).sort()).toEqual([...expected, ...own].sort());
  });

  it(`${name} runs in Kubernetes`, () => {
    expect(read('deploy/kubernetes/services.yaml')).toContain(`command: [node, services/${name}/src/main.ts]`);
  });
}

it('Kubernetes is given the same variables', () => {
  const file = read('deploy/kubernetes/kustomization.yaml');
  const expected = Object.keys(serviceEnv(START_SYSTEM_PORTS, client, servers, '')).filter(named);
  for (const variable of expected) expect(file).toContain(variable);
});

it('alerting gets a file of channels in containers, and another one where the environment names it', () => {
  const { environment, volumes } = container('alerting');
  const [{ source, target }] = volumes as [{ source: string; target: string }];
  expect(environment.VIGIL_ALERTS_FILE).toBe(target);
  expect(environment.VIGIL_DASHBOARD_URL).toBe(
    `\${VIGIL_DASHBOARD_URL:-http://127.0.0.1:${START_SYSTEM_PORTS.dashboard}}`,
  );
  const file = /^\$\{VIGIL_ALERTS_FILE:-\.\/(.+)\}$/.exec(source)?.[1] ?? '';
  expect(file).toBe('deploy/kubernetes/alerts.yaml');
  expect(parse(read(file))).toEqual({ default: ['console'], channels: {} });
});

it('alerting gets them in Kubernetes from the same file', () => {
  const { configMapGenerator } = parse(read('deploy/kubernetes/kustomization.yaml'));
  expect(configMapGenerator[0].literals).toContain(
    `VIGIL_DASHBOARD_URL=http://dashboard:${START_SYSTEM_PORTS.dashboard}`,
  );
  expect(configMapGenerator).toContainEqual({ name: 'alerts', files: ['alerts.yaml'] });
  const all = parseAllDocuments(read('deploy/kubernetes/services.yaml')).map((one) => one.toJS());
  const { spec } = all.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'alerting').spec
    .template;
  expect(spec.volumes).toEqual([{ name: 'alerts', configMap: { name: 'alerts' } }]);
  expect(spec.containers[0]).toMatchObject({
    env: [{ name: 'VIGIL_ALERTS_FILE', value: '/etc/vigil/alerts.yaml' }],
    volumeMounts: [{ name: 'alerts', mountPath: '/etc/vigil' }],
  });
});

it('what compose mounts and runs once is there', () => {
  expect(existsSync(path.join(root, 'deploy/postgres/registry.sql'))).toBe(true);
  expect(existsSync(path.join(root, container('prepare').command?.[1] ?? ''))).toBe(true);
});
