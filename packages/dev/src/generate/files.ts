import path from 'node:path';
import { VOCABULARY } from '@vigil/health';
import { assignmentSchema, policySchema } from '@vigil/policy';
import { renderCatalogue } from './catalogue.ts';
import { goldenFiles } from './golden.ts';
import { probeFiles } from './probes.ts';
import { readSchemas } from './schemas.ts';
import { renderTables } from './tables.ts';
import { renderTopicTable } from './topic-table.ts';
import { renderTypes } from './types.ts';

/** Every generated file and its text: `npm run generate` writes them, `npm run check` compares them. */
export const generatedFiles = (root: string): ReadonlyMap<string, string> => {
  const topics = readSchemas(path.join(root, 'schemas'));
  return new Map([
    ['packages/events/src/generated/types.ts', renderTypes(topics)],
    ['packages/events/src/generated/catalogue.ts', renderCatalogue(topics)],
    ['packages/read-model/src/generated/tables.ts', renderTables(path.join(root, 'packages/read-model/migrations'))],
    ['docs/topics.md', renderTopicTable(topics)],
    ['packages/policy/policy.schema.json', pretty(policySchema(VOCABULARY))],
    ['packages/policy/assign.schema.json', pretty(assignmentSchema())],
    ...goldenFiles(root),
    ...probeFiles(root),
  ]);
};

const pretty = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
