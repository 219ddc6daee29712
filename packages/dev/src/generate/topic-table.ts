import type { TopicFolder } from './schemas.ts';

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
