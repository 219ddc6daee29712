import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { root } from '../paths.ts';

type Rule = { alert: string; expr: string; labels: { severity: string }; annotations: Record<string, string> };
const file: { groups: { rules: Rule[] }[] } = parse(
  readFileSync(path.join(root, 'deploy/prometheus/rules.yaml'), 'utf8'),
);
const rules = file.groups.flatMap(({ rules }) => rules);

test('every alarm has a unique name, a severity, a description and a remedy', () => {
  expect(rules.length).toBeGreaterThan(0);
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  for (const { alert, expr, labels, annotations } of rules)
    expect({ alert, expr, severity: labels.severity, ...annotations }).toEqual({
      alert: expect.stringMatching(/^Vigil[A-Z]/),
      expr: expect.any(String),
      severity: expect.stringMatching(/^(critical|warning|info)$/),
      summary: expect.stringContaining('{{ $labels.of }}'),
      remedy: expect.stringMatching(/\.$/),
    });
});
