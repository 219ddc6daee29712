import { METRICS, shownName } from '@vigil/chassis/metrics';
import type { MetricDefinition } from '@vigil/stream/metrics';

const labelsOf = ({ labels }: MetricDefinition): string =>
  Object.entries(labels)
    .map(([label, values]) => {
      const known = 'boundedBy' in values ? values.boundedBy : values.map((value) => `\`${value}\``).join(' ');
      return `\`${label}\`: ${known}`;
    })
    .join('<br>');

const row = ([name, metric]: readonly [string, MetricDefinition]): string =>
  `| \`${shownName(name, metric)}\` | ${metric.kind} | ${metric.unit} | ${metric.help} | ${labelsOf(metric)} |`;

/** The page of all metrics, for people. */
export const renderMetricsPage = (): string =>
  [
    '<!-- Generated from packages/chassis/src/metrics by `npm run generate`. Do not edit. -->',
    '# Metrics',
    '',
    'Every service shows its metrics at `/metrics` of its probe port, as Prometheus text. A metric that another service counts is missing there.',
    'Counters of decisions grow once the decision is committed. A restart sets counters back to zero, as Prometheus expects.',
    '',
    '[Alert rules](../deploy/prometheus/rules/vigil.yaml) and [boards](../deploy/grafana/README.md) use these metrics.',
    '',
    '| metric | kind | unit | what | labels and their values |',
    '|---|---|---|---|---|',
    ...Object.entries(METRICS).map(row),
    '',
  ].join('\n');
