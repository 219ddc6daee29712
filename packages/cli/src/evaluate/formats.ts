import { type Adapter, adapters } from '@vigil/adapters';

/** What a file holds. */
export type Format =
  | { readonly kind: 'runs' }
  | { readonly kind: 'trajectories' }
  | { readonly kind: 'telemetry' }
  | { readonly kind: 'session'; readonly adapter: Adapter }
  | { readonly kind: 'stream'; readonly adapter: Adapter };

type Known = { readonly name: string; readonly format: Format; readonly words: string };

const KNOWN: readonly Known[] = [
  { name: 'runs', format: { kind: 'runs' }, words: 'recorded runs: lines of JSON with run_id and calls' },
  {
    name: 'atif',
    format: { kind: 'trajectories' },
    words: 'an ATIF-v1 trajectory: JSON with schema_version and steps',
  },
  {
    name: 'otlp',
    format: { kind: 'telemetry' },
    words: 'OTLP/JSON of an agent: export requests with gen_ai spans, or what its client exports',
  },
  ...adapters.flatMap((adapter): Known[] => [
    {
      name: adapter.name,
      format: { kind: 'session', adapter },
      words: `a session of ${adapter.install.title}: ${adapter.sessionFile.place}`,
    },
    {
      name: `${adapter.name}-stream`,
      format: { kind: 'stream', adapter },
      words: `the output of ${adapter.install.title} with ${adapter.streamOptions}`,
    },
  ]),
];

/** The formats that are read, for people. */
export const FORMATS: readonly string[] = KNOWN.map(({ words }) => words);

export const FORMAT_NAMES: readonly string[] = KNOWN.map(({ name }) => name);

/** The format of that name. */
export const formatNamed = (name: string): Format | null => KNOWN.find((one) => one.name === name)?.format ?? null;
