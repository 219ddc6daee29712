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
