import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { root } from '../paths.ts';
import { SERVICES, START_SYSTEM_PORTS, VARIABLES_OF } from './services.ts';

const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');
const yaml = (file: string) => parse(read(file), { merge: true });
const objects = (file: string): { kind: string; metadata: { name: string } }[] =>
  parseAllDocuments(read(file)).map((one) => one.toJS());
const BASE = 'deploy/kubernetes/base';
const namesOf = (file: string, ...kinds: readonly string[]): string[] =>
  objects(file)
    .filter(({ kind }) => kinds.includes(kind))
    .map(({ metadata }) => metadata.name);
const probed = (text: string): string[] => text.split(',').map((pair) => pair.split('=')[0] ?? '');
const literal = (name: string): string => {
  const [{ literals }] = yaml(`${BASE}/kustomization.yaml`).configMapGenerator;
  return literals.find((line: string) => line.startsWith(`${name}=`)).slice(name.length + 1);
};

/** Every list of all services that is kept in a file. */
const LISTS: Readonly<Record<string, () => readonly string[]>> = {
  'the folders of services/': () =>
    globSync('services/*/src/main.ts', { cwd: root }).map((file) => file.split('/')[1] ?? ''),
  'the variables of services': () => Object.keys(VARIABLES_OF),
  'docker-compose.yml': () =>
    Object.entries(yaml('docker-compose.yml').services as Record<string, { command?: string[] }>)
      .filter(([name, { command }]) => command?.[1] === `services/${name}/src/main.ts`)
      .map(([name]) => name),
  'VIGIL_PROBES of alerting in docker-compose.yml': () =>
    probed(yaml('docker-compose.yml').services.alerting.environment.VIGIL_PROBES),
  'VIGIL_PROBES of the dashboard in docker-compose.yml': () =>
    probed(yaml('docker-compose.yml').services.dashboard.environment.VIGIL_PROBES),
  'the workloads of Kustomize': () => namesOf(`${BASE}/services.yaml`, 'Deployment', 'StatefulSet'),
  'the services of Kustomize': () => [
    ...namesOf(`${BASE}/services.yaml`, 'Service'),
    ...namesOf(`${BASE}/ingresses.yaml`, 'Service'),
  ],
  'the budgets of Kustomize': () => namesOf(`${BASE}/budgets.yaml`, 'PodDisruptionBudget'),
  'VIGIL_PROBES of Kustomize': () => probed(literal('VIGIL_PROBES')),
  'the values of the chart': () => Object.keys(yaml('deploy/helm/vigil/values.yaml').services),
  'the schema of the chart': () =>
    Object.keys(JSON.parse(read('deploy/helm/vigil/values.schema.json')).properties.services.properties),
  'the targets of Prometheus': () =>
    yaml('deploy/prometheus/prometheus.yaml').scrape_configs[0].static_configs[0].targets.map(
      (target: string) => target.split(':')[0],
    ),
  'the services that run in one process': () =>
    [...read('packages/embedded/src/main.ts').matchAll(/from '@vigil\/([a-z-]+)'/g)]
      .map(([, name = '']) => name)
      .filter((name) => name !== 'chassis'),
  'the table of services in docs/operating.md': () =>
    [...(read('docs/operating.md').split('\n## ')[1] ?? '').matchAll(/^\| ([a-z-]+) \| /gm)]
      .map(([, name = '']) => name)
      .filter((name) => name !== 'service'),
  'the table of services in CONTRIBUTING.md': () =>
    [...read('CONTRIBUTING.md').matchAll(/^\| ([a-z, -]+) \| `src\//gm)].flatMap(([, names = '']) => names.split(', ')),
};

test.each(Object.entries(LISTS))('%s: exactly the services of npm start, each once', (_, list) => {
  expect(list().toSorted()).toEqual([...SERVICES].toSorted());
});

test('the image has the folder of every service, and starts one', () => {
  const ignored = read('deploy/Dockerfile.dockerignore').split('\n').filter(Boolean);
  expect(ignored.filter((line) => /^(\*\*\/)?(services|packages)(\/|$)/.test(line))).toEqual([]);
  const [, started = ''] = /^CMD \["node", "(.+)"\]$/m.exec(read('deploy/Dockerfile')) ?? [];
  expect(existsSync(path.join(root, started))).toBe(true);
  expect(read('pnpm-workspace.yaml')).toContain('services/*');
});

test('npm start gives each service a port of its own for its probes', () => {
  expect(START_SYSTEM_PORTS.probes.length).toBe(SERVICES.length);
  expect(new Set(START_SYSTEM_PORTS.probes).size).toBe(SERVICES.length);
});
