/** A module that people import from a package: `.` or `./name`, and the source that it is built from. */
export type Entry = { readonly name: string; readonly source: string };

/** A package that people install. Its name, version and dependencies are those of package.json in its folder. */
export type Published = {
  readonly folder: string;
  readonly description: string;
  readonly entries: readonly Entry[];
  /** The command that an install puts on the PATH, and its source. */
  readonly bin: Entry | null;
  /** The oldest Node that runs it. */
  readonly node: string;
  /**
   * What stays a dependency, as in an import: another package of this list, or a package of a registry. Everything else
   * is part of the built files.
   */
  readonly dependencies: readonly string[];
  /** Files and folders of the repository that the package contains, and their place in it. */
  readonly files: Readonly<Record<string, string>>;
  /** Those of them that people import. */
  readonly exportedFiles: readonly string[];
};

/** The packages that people install; the others are parts of these, or of the services. */
export const PUBLISHED: readonly Published[] = [
  {
    folder: 'packages/events',
    description: 'The events of Vigil: types, Avro schemas, and the codec for Kafka and JSON',
    entries: [
      { name: '.', source: 'packages/events/src/index.ts' },
      { name: './request-answer', source: 'packages/events/src/request-answer.ts' },
    ],
    bin: null,
    node: '>=22',
    dependencies: ['@kafkajs/confluent-schema-registry', 'avsc', '@types/node'],
    files: { schemas: 'schemas' },
    exportedFiles: ['schemas/*'],
  },
  {
    folder: 'packages/policy',
    description: 'Health policies of Vigil: read, check and compile them',
    entries: [
      { name: '.', source: 'packages/policy/src/index.ts' },
      { name: './vocabulary', source: 'packages/health/src/vocabulary.ts' },
    ],
    bin: null,
    node: '>=22',
    dependencies: ['@vigil/events', 're2js', 'yaml', 'zod'],
    files: {
      'packages/policy/policy.schema.json': 'policy.schema.json',
      'packages/policy/assign.schema.json': 'assign.schema.json',
      'packages/policy/presets': 'presets',
    },
    exportedFiles: ['policy.schema.json', 'assign.schema.json', 'presets/*'],
  },
  {
    folder: 'packages/sdk',
    description: 'Reports an agent to Vigil: heartbeats, calls and checkpoints; receives its commands',
    entries: [
      { name: '.', source: 'packages/sdk/src/index.ts' },
      { name: './hashes', source: 'packages/sdk/src/calls/hashes.ts' },
    ],
    bin: null,
    node: '>=20.11',
    dependencies: [],
    files: { schemas: 'schemas' },
    exportedFiles: [],
  },
  {
    folder: 'packages/cli',
    description: 'The command vigil: run agents under supervision, show their health, decide, control',
    entries: [],
    bin: { name: 'vigil', source: 'packages/dev/bootstrap/installed/vigil.mjs' },
    node: '>=20.16',
    dependencies: ['@lydell/node-pty'],
    files: {
      schemas: 'schemas',
      'packages/policy/presets': 'presets',
      'packages/read-model/migrations': 'migrations',
      'packages/dev/bootstrap/vigil.mjs': 'dist/vigil.js',
    },
    exportedFiles: [],
  },
];
