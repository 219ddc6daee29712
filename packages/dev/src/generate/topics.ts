import type { TopicFolder } from './schemas.ts';

/** onex.evt.health-evaluator.agent-health.v1 → agentHealth; dead letters and snapshots get their service's name. */
const shortName = (topic: string): string => {
  const [, kind, producer = '', event = ''] = topic.split('.');
  const name = kind === 'dlq' || kind === 'snapshot' ? `${kind}-${producer}` : event;
  return name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
};

/** The topics as data, with the events of each. */
export const renderCatalogue = (topics: readonly TopicFolder[]): string => {
  const names = topics.map((topic) => `  ${shortName(topic.name)}: '${topic.name}',`);
  const entries = topics.map((topic) => {
    const info = { ...topic, events: topic.events.map(({ fields: _, ...event }) => event) };
    return `  '${topic.name}': ${JSON.stringify(info)},`;
  });
  return [
    '// Generated from schemas/ by `npm run generate`. Do not edit.',
    "import type { TopicInfo } from '../topic.ts';",
    '',
    '/** Every topic under its short name. */',
    'export const Topic = {',
    ...names,
    '} as const;',
    '',
    'export type TopicName = (typeof Topic)[keyof typeof Topic];',
    '',
    'export const catalogue: Readonly<Record<TopicName, TopicInfo>> = {',
    ...entries,
    '};',
    '',
  ].join('\n');
};

const row = (topic: TopicFolder): string => {
  const events = topic.events.map(({ record, file }) => `[${record}](../schemas/${file})`).join(', ');
  const time = topic.carriesTime ? 'yes' : '';
  return `| \`${topic.name}\` | ${topic.key} | ${topic.writers.join(', ')} | ${topic.retention} | ${topic.partitions} | ${time} | ${events} |`;
};

const section = (title: string, text: string, topics: readonly TopicFolder[]): string[] => [
  `## ${title}`,
  '',
  text,
  '',
  '| topic | key | written by | kept | partitions | carries time | events |',
  '|---|---|---|---|---|---|---|',
  ...topics.map(row),
  '',
];

/** The page of all topics, for people. */
export const renderTopicTable = (topics: readonly TopicFolder[]): string => {
  const kind = (name: string) => topics.filter((topic) => topic.name.startsWith(`onex.${name}.`));
  return [
    '<!-- Generated from schemas/ by `npm run generate`. Do not edit. -->',
    '# Topics',
    '',
    'A folder of `schemas/` is a topic, a file in it is an event. `many` partitions: the number of `vigil topics apply` (4 by default).',
    '',
    ...section('Events', 'Facts, in the past tense. Consume these.', kind('evt')),
    ...section('Commands', 'Requests, named after the service that executes them.', kind('cmd')),
    ...section('Dead letters', 'Records that could not be read or decided, with the reason.', kind('dlq')),
    ...section(
      'Snapshots',
      'State and positions of the processors, in their own encoding. Nothing else reads them.',
      kind('snapshot'),
    ),
  ].join('\n');
};
