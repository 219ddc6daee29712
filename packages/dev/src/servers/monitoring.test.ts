import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { METRICS, shownName } from '@vigil/chassis/metrics';
import type { LabelValues, MetricDefinition } from '@vigil/stream/metrics';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { root } from '../paths.ts';
import { SERVICES } from '../system/services.ts';
import { parsePromQl, type Selector } from './promql.ts';

type Rule = { alert: string; expr: string; labels: { severity: string }; annotations: Record<string, string> };
type Panel = {
  id: number;
  title: string;
  description: string;
  datasource: { uid: string };
  gridPos: { x: number; y: number; w: number; h: number };
  targets: { expr: string; legendFormat: string }[];
};
type Board = { uid: string; title: string; panels: Panel[] };

const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');
const { groups }: { groups: { rules: Rule[] }[] } = parse(read('deploy/prometheus/rules/vigil.yaml'));
const rules = groups.flatMap((group) => group.rules);
const boards = globSync('deploy/grafana/boards/*.json', { cwd: root }).map((file): Board => JSON.parse(read(file)));
const panels = boards.flatMap((board) => board.panels.map((panel) => ({ ...panel, board: board.title })));

type Labels = Readonly<Record<string, LabelValues>>;
const ANY: LabelValues = { boundedBy: 'Prometheus' };
/** Labels that Prometheus itself adds to every series. */
const ADDED: Labels = { job: ANY, instance: ANY };

/** The labels of each series that Prometheus stores. */
const series = new Map<string, Labels>([['up', ADDED]]);
for (const [name, metric] of Object.entries<MetricDefinition>(METRICS)) {
  const shown = shownName(name, metric);
  const labels = { ...metric.labels, ...ADDED };
  if (metric.kind !== 'histogram') series.set(shown, labels);
  else
    for (const [end, le] of [
      ['bucket', { le: ANY }],
      ['sum', {}],
      ['count', {}],
    ] as const)
      series.set(`${shown}_${end}`, { ...labels, ...le });
}

const matches = (values: LabelValues, operator: string, value: string): boolean => {
  if ('boundedBy' in values) return true;
  if (!operator.includes('~')) return values.includes(value);
  return value.split('|').every((part) => values.some((one) => new RegExp(`^(?:${part})$`).test(one)));
};

const problemsOf = ({ metric, matchers }: Selector): string[] => {
  const labels = series.get(metric);
  if (labels === undefined) return [`${metric} is not a metric`];
  return matchers.flatMap(({ label, operator, value }) => {
    const values = labels[label];
    if (values === undefined) return [`${metric} has no label ${label}`];
    return matches(values, operator, value) ? [] : [`${label} of ${metric} is never ${value}`];
  });
};

/** What is wrong with an expression and the labels that a text shows of its result. */
const mistakes = (expression: string, shown: readonly string[]): string[] => {
  const { selectors, labels } = parsePromQl(expression);
  const known = new Set(selectors.flatMap(({ metric }) => Object.keys(series.get(metric) ?? {})));
  const left = labels.length > 0 ? new Set(labels) : known;
  return [
    ...selectors.flatMap(problemsOf),
    ...labels.filter((label) => !known.has(label)).map((label) => `it groups by ${label}, which no metric of it has`),
    ...shown.filter((label) => !left.has(label)).map((label) => `its result has no label ${label} to show`),
  ];
};

const namesIn = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, name]) => name ?? '');

test('every alert rule uses metrics, labels and values that exist: another would never fire', () => {
  for (const { expr, annotations } of rules) {
    const shown = namesIn(Object.values(annotations).join(' '), /\$labels\.(\w+)/g);
    expect({ expr, mistakes: mistakes(expr, shown) }).toEqual({ expr, mistakes: [] });
  }
});

test('every alert rule has a unique name, a severity, a description and a remedy', () => {
  expect(rules.length).toBeGreaterThan(0);
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  for (const { alert, expr, labels, annotations } of rules)
    expect({ alert, expr, severity: labels.severity, ...annotations }).toEqual({
      alert: expect.stringMatching(/^Vigil[A-Z]/),
      expr: expect.any(String),
      severity: expect.stringMatching(/^(critical|warning|info)$/),
      summary: expect.stringMatching(/\{\{ \$labels\.\w+ }}/),
      remedy: expect.stringMatching(/\.$/),
      runbook_url: `docs/runbook.md#${alert.toLowerCase()}`,
    });
});

test('the runbook has an entry for every alert rule and no other, and begins with a finding that looks wrong', () => {
  const runbook = read('docs/runbook.md');
  const [before, entries = ''] = runbook.split('\n## Alert rules\n');
  const headings = [...entries.matchAll(/^### (.+)$/gm)].map(([, heading]) => heading);
  expect(headings).toEqual(rules.map(({ alert }) => alert));
  for (const entry of entries.split(/^### .+$/m).slice(1)) expect(entry.trim()).toMatch(/\.$/);
  expect(/^## (.+)$/m.exec(before ?? '')?.[1]).toBe('A finding looks wrong');
});

test('time that stands still, time that is ahead, slow watched time and lag have rules', () => {
  const used = rules.flatMap(({ expr }) => parsePromQl(expr).selectors.map(({ metric }) => metric));
  for (const gauge of ['time_seconds', 'watched_seconds', 'lag', 'running', 'restored_ratio'])
    expect(used).toContain(`vigil_partition_${gauge}`);
  expect(rules.map(({ expr }) => expr)).toContain(
    'vigil_partition_time_seconds > 0 and time() - vigil_partition_time_seconds > 60',
  );
});

test('the boards are fleet, operations and cost, and every panel uses what exists', () => {
  expect(boards.map(({ uid }) => uid).toSorted()).toEqual(['vigil-cost', 'vigil-fleet', 'vigil-operations']);
  for (const { board, title, targets } of panels) {
    expect(targets.length).toBeGreaterThan(0);
    for (const { expr, legendFormat } of targets) {
      const found = mistakes(expr, namesIn(legendFormat, /\{\{(\w+)}}/g));
      expect({ board, title, expr, mistakes: found }).toEqual({ board, title, expr, mistakes: [] });
    }
  }
});

test('every panel has a title, a sentence about it and a place of its own', () => {
  for (const { panels: all } of boards) {
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    for (const [i, { title, description, gridPos: a }] of all.entries()) {
      expect(title).not.toBe('');
      expect(description).toMatch(/\.$/);
      expect(a.x + a.w).toBeLessThanOrEqual(24);
      const overlaps = all.slice(i + 1).filter(({ gridPos: b }) => {
        const besides = a.x + a.w <= b.x || b.x + b.w <= a.x;
        return !besides && a.y < b.y + b.h && b.y < a.y + a.h;
      });
      expect(overlaps.map((other) => `${title} covers ${other.title}`)).toEqual([]);
    }
  }
});

test('the check finds a wrong metric, label, value, group and syntax', () => {
  expect(mistakes('rate(vigil_warrants[5m])', [])).toEqual(['vigil_warrants is not a metric']);
  expect(mistakes('vigil_agents{status="STUCK"}', [])).toEqual(['vigil_agents has no label status']);
  expect(mistakes('vigil_agents{state=~"STUCK|LOST"}', [])).toEqual(['state of vigil_agents is never STUCK|LOST']);
  expect(mistakes('sum by (host) (vigil_agents)', ['state'])).toEqual([
    'it groups by host, which no metric of it has',
    'its result has no label state to show',
  ]);
  expect(() => mistakes('sum(vigil_agents', [])).toThrow('a mistake at character');
});

test('Prometheus reads the metrics of every service of docker-compose.yml', () => {
  const { scrape_configs: jobs, rule_files: files } = parse(read('deploy/prometheus/prometheus.yaml'));
  expect(jobs[0]).toMatchObject({ job_name: 'vigil' });
  expect(jobs[0].static_configs[0].targets.toSorted()).toEqual(SERVICES.map((name) => `${name}:7430`).toSorted());
  expect(files).toEqual(['rules/vigil.yaml']);
});

test('the boards use the source that is provisioned', () => {
  const { datasources } = parse(read('deploy/grafana/provisioning/datasources/vigil.yaml'));
  for (const { datasource } of panels) expect(datasource.uid).toBe(datasources[0].uid);
});

const promtool = spawnSync('promtool', ['--version']).status === 0;
test.skipIf(!promtool)('promtool accepts the rules and the configuration', () => {
  const check = (...args: string[]) =>
    spawnSync('promtool', args, { cwd: path.join(root, 'deploy/prometheus'), encoding: 'utf8' });
  for (const args of [
    ['check', 'rules', 'rules/vigil.yaml'],
    ['check', 'config', 'prometheus.yaml'],
  ]) {
    const { status, stdout, stderr } = check(...args);
    expect({ status, out: status === 0 ? '' : stdout + stderr }).toEqual({ status: 0, out: '' });
  }
});
