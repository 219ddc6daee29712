import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { openApiDocument, PUBLISHED } from '@vigil/dashboard/openapi';
import { catalogue, type HealthEvent, memoryCodec, schemaOf, topicNames } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { VOCABULARY } from '@vigil/health';
import { assignmentSchema, canonicalJson, contentHash, policySchema } from '@vigil/policy';
import { SERVICES } from '../system/services.ts';
import { jsonSchemas } from './json-schemas.ts';
import { renderMetricsPage } from './metrics.ts';
import { readSchemas } from './schemas.ts';
import { renderTables } from './tables.ts';
import { renderCatalogue, renderTopicTable } from './topics.ts';
import { renderSymbols, renderTypes } from './types.ts';

type Files = ReadonlyMap<string, string>;

const pretty = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** The fingerprint of a schema without the parts that do not affect its encoding: texts, and Vigil's attribute. */
const fingerprintOf = (json: string): string => {
  const ofBytes = JSON.parse(json, (key, value) => (key === 'doc' || key === 'vigil' ? undefined : value));
  return contentHash(canonicalJson(ofBytes)).slice(0, 12);
};

/**
 * Golden encodings: the bytes of the example of every schema, past and present. A new fingerprint adds a file, and no
 * file is ever rewritten. So a test decodes every event ever written.
 */
const goldenFiles = (root: string): Files => {
  const codec = memoryCodec();
  const files = topicNames.flatMap((topic) =>
    catalogue[topic].events.map(({ type, record }): [string, string] => {
      const { json } = schemaOf(topic, type);
      const folder = topic.replace(/^onex\.([^.]+)\.([^.]+)\./, '$1/$2/');
      const name = `packages/events/golden/${folder}/${record}.${fingerprintOf(json)}.json`;
      if (existsSync(path.join(root, name))) return [name, readFileSync(path.join(root, name), 'utf8')];
      const event = example(topic, type as HealthEvent['type']) as HealthEvent;
      const avro = codec.encode(event).subarray(5).toString('base64');
      return [name, `${JSON.stringify({ topic, type, schema: JSON.parse(json), avro })}\n`];
    }),
  );
  return new Map(files);
};

const DEPLOYMENTS = ['docker-compose.yml', 'deploy/kubernetes/base/kustomization.yaml'];
const PROBE_PORT = 7430; // of every container
const probes = SERVICES.map((name) => `${name}=http://${name}:${PROBE_PORT}`).join(',');

/** The deployments with the probes of all services in VIGIL_PROBES. */
const probeFiles = (root: string): Files =>
  new Map(
    DEPLOYMENTS.map((file) => {
      const text = readFileSync(path.join(root, file), 'utf8');
      if (!text.includes('VIGIL_PROBES')) throw new Error(`${file} gives the services no VIGIL_PROBES: add it`);
      return [file, text.replace(/(VIGIL_PROBES(?:=|: )).*$/gm, `$1${probes}`)];
    }),
  );

/** A chart reads its own folder only, so it has copies of the rules and boards. */
const CHART_FILES = 'deploy/helm/vigil/files';
const chartFiles = (root: string): Files =>
  new Map([
    [`${CHART_FILES}/rules.yaml`, readFileSync(path.join(root, 'deploy/prometheus/rules/vigil.yaml'), 'utf8')],
    ...globSync('deploy/grafana/boards/*.json', { cwd: root }).map((file): [string, string] => [
      `${CHART_FILES}/boards/${path.basename(file)}`,
      readFileSync(path.join(root, file), 'utf8'),
    ]),
  ]);

/** The types of answers: a later folder replaces types of the same name. */
const TYPED = ['packages/events/src', 'packages/read-model/src'];

/** Every generated file and its text. */
const generatedFiles = (root: string): Files => {
  const topics = readSchemas(path.join(root, 'schemas'));
  return new Map([
    ['packages/events/src/generated/types.ts', renderTypes(topics)],
    ['packages/events/src/generated/symbols.ts', renderSymbols(topics)],
    ['packages/events/src/generated/catalogue.ts', renderCatalogue(topics)],
    ['packages/read-model/src/generated/tables.ts', renderTables(path.join(root, 'packages/read-model/migrations'))],
    ['docs/topics.md', renderTopicTable(topics)],
    [
      'docs/openapi.json',
      pretty(
        openApiDocument(
          jsonSchemas(
            TYPED.map((folder) => path.join(root, folder)),
            PUBLISHED,
          ),
        ),
      ),
    ],
    ['docs/metrics.md', renderMetricsPage()],
    ['packages/policy/policy.schema.json', pretty(policySchema(VOCABULARY))],
    ['packages/policy/assign.schema.json', pretty(assignmentSchema())],
    ...goldenFiles(root),
    ...probeFiles(root),
    ...chartFiles(root),
  ]);
};

/** The generated files that differ from their sources: `npm run generate` writes them, `npm run check` reports them. */
export const staleFiles = (root: string): Files => {
  const textOf = (file: string): string | null => (existsSync(file) ? readFileSync(file, 'utf8') : null);
  return new Map([...generatedFiles(root)].filter(([file, text]) => textOf(path.join(root, file)) !== text));
};
