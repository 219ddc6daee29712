import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { root } from '../paths.ts';
import { SERVICES, type ServiceName, START_SYSTEM_PORTS } from '../system/services.ts';
import { hashOfSources, hasTool, headerOf, RENDERED, RENDERINGS, type Rendering, render } from './rendered.ts';

type Probe = { httpGet: { path: string; port: string } };
type Container = {
  command: string[];
  image: string;
  envFrom: { configMapRef?: { name: string }; secretRef?: { name: string; optional?: boolean } }[];
  env?: { name: string; value: string }[];
  securityContext: object;
  resources: { limits: Record<string, string>; requests: Record<string, string> };
  volumeMounts: { name: string; mountPath: string; readOnly?: boolean }[];
} & Readonly<Record<'startupProbe' | 'livenessProbe' | 'readinessProbe', Probe>>;
type Pod = {
  automountServiceAccountToken: boolean;
  securityContext: Record<string, unknown>;
  containers: [Container];
  volumes: { name: string; secret?: { secretName: string; defaultMode: number } }[];
};
type Manifest = {
  kind: string;
  metadata: { name: string; labels?: Record<string, string> };
  data?: Record<string, string>;
  spec: {
    replicas?: number;
    template: { metadata: { labels: Record<string, string> }; spec: Pod };
    ports: { port: number }[];
    selector: Record<string, string>;
    maxUnavailable: number;
    podSelector: { matchLabels?: Record<string, string> };
    ingress?: { ports: { port: number }[]; from?: object[] }[];
    scaleTargetRef: { kind: string; name: string };
    maxReplicaCount: number;
    triggers: { metadata: Record<string, string> }[];
  };
};

const textOf = ({ file }: Rendering): string => readFileSync(path.join(root, RENDERED, file), 'utf8');
const documents = (text: string): Manifest[] =>
  parseAllDocuments(text)
    .map((one): Manifest | null => one.toJS())
    .filter((one) => one !== null);
const named = (manifests: readonly Manifest[], kind: string, name: string): Manifest => {
  const found = manifests.find((one) => one.kind === kind && one.metadata.name === name);
  if (found === undefined) throw new Error(`${kind} ${name} is not rendered`);
  return found;
};
const kindOf = (name: ServiceName): string => (name === 'gateway' ? 'StatefulSet' : 'Deployment');

test.each(RENDERINGS)(
  '$file is rendered from the present sources: run `npm run render` after a change',
  (rendering) => {
    expect(textOf(rendering).split('\n', 1)[0]).toBe(headerOf(rendering));
  },
);

test.each(RENDERINGS)('other sources than those of $file have another hash', (rendering) => {
  const others = RENDERINGS.filter(({ sources }) => sources.join() !== rendering.sources.join());
  for (const other of others) expect(hashOfSources(other)).not.toBe(hashOfSources(rendering));
});

for (const rendering of RENDERINGS) {
  const { file } = rendering;
  const manifests = documents(textOf(rendering));
  const pods = manifests.filter(({ kind }) => ['Deployment', 'StatefulSet', 'Job'].includes(kind));

  test.skipIf(!hasTool(rendering))(`${file} is what the tool renders`, () =>
    expect(documents(render(rendering))).toEqual(manifests),
  );

  test(`${file} runs every service of npm start, and the preparation, and nothing else`, () => {
    expect(pods.map(({ metadata }) => metadata.name).toSorted()).toEqual([...SERVICES, 'prepare'].toSorted());
    for (const name of SERVICES) {
      const { template } = named(manifests, kindOf(name), name).spec;
      expect(template.spec.containers[0].command).toEqual(['node', `services/${name}/src/main.ts`]);
      expect(template.metadata.labels.app).toBe(name);
    }
  });

  test(`${file}: each pod is without privileges, and has requests and limits`, () => {
    for (const { metadata, spec } of pods) {
      const { automountServiceAccountToken, securityContext, containers } = spec.template.spec;
      expect(automountServiceAccountToken, metadata.name).toBe(false);
      expect(securityContext, metadata.name).toMatchObject({
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      expect(containers[0].securityContext, metadata.name).toEqual({
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'] },
        readOnlyRootFilesystem: true,
      });
      for (const which of ['limits', 'requests'] as const)
        expect(Object.keys(containers[0].resources[which]).toSorted()).toEqual(['cpu', 'memory']);
    }
  });

  test(`${file}: each service has three probes, a budget, and a name for its probes`, () => {
    for (const name of SERVICES) {
      const [container] = named(manifests, kindOf(name), name).spec.template.spec.containers;
      expect(container.startupProbe.httpGet, name).toEqual({ path: '/live', port: 'probes' });
      expect(container.livenessProbe.httpGet, name).toEqual({ path: '/live', port: 'probes' });
      expect(container.readinessProbe.httpGet, name).toEqual({ path: '/ready', port: 'probes' });
      expect(named(manifests, 'PodDisruptionBudget', name).spec.maxUnavailable).toBe(1);
      const { ports, selector } = named(manifests, 'Service', name).spec;
      expect(ports.map(({ port }) => port)).toContain(7430);
      expect(selector).toEqual({ app: name });
    }
    const config = manifests.find(({ kind, data }) => kind === 'ConfigMap' && data?.VIGIL_PROBES !== undefined);
    const probed = config?.data?.VIGIL_PROBES?.split(',').toSorted();
    expect(probed).toEqual(SERVICES.map((name) => `${name}=http://${name}:7430`).toSorted());
  });

  test(`${file}: each service has the secret of its own name only, and can write only to /tmp`, () => {
    for (const name of SERVICES) {
      const [{ envFrom, volumeMounts, env = [] }] = named(manifests, kindOf(name), name).spec.template.spec.containers;
      const secrets = envFrom.flatMap(({ secretRef }) => (secretRef === undefined ? [] : [secretRef]));
      expect(secrets).toEqual([{ name: `vigil-${name}`, optional: true }]);
      for (const { mountPath, readOnly } of volumeMounts)
        expect(readOnly === true || mountPath === '/tmp', `${name} ${mountPath}`).toBe(true);
      expect(env.filter((one) => /PASSWORD$|SECRET|_TOKEN$|DATABASE_URL/.test(one.name))).toEqual([]);
    }
    for (const { data = {} } of manifests.filter(({ kind }) => kind === 'ConfigMap'))
      expect(Object.keys(data).filter((key) => /PASSWORD$|SECRET|_TOKEN$|DATABASE_URL|_KEY$/.test(key))).toEqual(
        Object.keys(data).filter((key) => key === 'VIGIL_TLS_KEY'),
      );
  });

  test(`${file}: only the group of a pod can read files of secrets`, () => {
    for (const { metadata, spec } of pods)
      for (const { secret } of spec.template.spec.volumes)
        if (secret !== undefined) {
          expect(secret.defaultMode, `${metadata.name} ${secret.secretName}`).toBe(0o440);
          expect(spec.template.spec.securityContext.fsGroup, metadata.name).toBe(1000);
        }
  });

  test(`${file}: only the two ingresses can be reached from outside`, () => {
    const policies = manifests.filter(({ kind, spec }) => kind === 'NetworkPolicy' && !Object.hasOwn(spec, 'egress'));
    const open = policies.filter(({ spec }) => spec.ingress !== undefined);
    expect(policies.length).toBe(open.length + 1);
    const reached = open.map(({ spec }) => [
      spec.podSelector.matchLabels?.app,
      spec.ingress?.flatMap(({ ports }) => ports.map(({ port }) => port)),
      spec.ingress?.every(({ from }) => from === undefined),
    ]);
    expect(reached).toContainEqual(['gateway', [START_SYSTEM_PORTS.gateway], true]);
    expect(reached).toContainEqual(['dashboard', [START_SYSTEM_PORTS.dashboard], true]);
    expect(reached).toContainEqual([undefined, [7430], false]);
    expect(reached.length).toBe(3);
  });

  test(`${file}: autoscaling on lag starts at most one pod for each partition, and no manifest also sets the replicas`, () => {
    const config = manifests.find(({ kind, data }) => kind === 'ConfigMap' && data?.VIGIL_PARTITIONS !== undefined);
    for (const { spec } of manifests.filter(({ kind }) => kind === 'ScaledObject')) {
      expect(spec.maxReplicaCount).toBeLessThanOrEqual(Number(config?.data?.VIGIL_PARTITIONS));
      const { kind, name } = spec.scaleTargetRef;
      expect(named(manifests, kind, name).spec.replicas, name).toBeUndefined();
      expect(spec.triggers[0]?.metadata.query).toContain('vigil_partition_lag');
    }
  });
}

test('Helm and Kustomize give the services the same names, ports, kinds and variables', () => {
  const [kustomize, helm] = ['kustomize-base.yml', 'helm-default.yml'].map((file) =>
    documents(textOf(RENDERINGS.find((one) => one.file === file)!)),
  ) as [Manifest[], Manifest[]];
  const shape = (manifests: readonly Manifest[]) =>
    SERVICES.map((name) => {
      const { spec } = named(manifests, kindOf(name), name);
      const [{ startupProbe, livenessProbe, readinessProbe, resources }] = spec.template.spec.containers;
      const ports = named(manifests, 'Service', name).spec.ports.map(({ port }) => port);
      return { name, ports, startupProbe, livenessProbe, readinessProbe, resources, replicas: spec.replicas };
    });
  expect(shape(helm)).toEqual(shape(kustomize));
  const variables = (manifests: readonly Manifest[]) =>
    manifests.find(({ kind, data }) => kind === 'ConfigMap' && data?.KAFKA_BROKERS !== undefined)?.data ?? {};
  // Kustomize gives it to every service, the chart to the preparation.
  const { VIGIL_REPLICAS, ...shared } = variables(kustomize);
  expect(VIGIL_REPLICAS).toBe('3');
  const probes = (text = ''): string[] => text.split(',').toSorted();
  expect({ ...variables(helm), VIGIL_PROBES: probes(variables(helm).VIGIL_PROBES) }).toEqual({
    ...shared,
    VIGIL_PROBES: probes(shared.VIGIL_PROBES),
  });
});

test('the values of the chart are those that its schema permits', () => {
  const values = parse(readFileSync(path.join(root, 'deploy/helm/vigil/values.yaml'), 'utf8'));
  const schema = JSON.parse(readFileSync(path.join(root, 'deploy/helm/vigil/values.schema.json'), 'utf8'));
  expect(Object.keys(values).filter((key) => schema.properties[key] === undefined)).toEqual([]);
  expect(Object.keys(schema.properties.services.properties)).toEqual([...SERVICES]);
  expect(Object.keys(values.services)).toEqual([...SERVICES]);
  expect(schema.properties.services.required).toEqual([...SERVICES]);
});
