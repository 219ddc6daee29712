import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseYaml } from '@vigil/policy';
import { afterAll, expect, test } from 'vitest';
import { KINDS } from '../sinks/kinds.ts';
import { SECRET, sinkDeps } from '../sinks/sinks.fixture.ts';
import { openChannels } from './channels.ts';

const docs = path.resolve(import.meta.dirname, '../../../../docs');
const page = readFileSync(path.join(docs, 'channels.md'), 'utf8');
const examples = [...page.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text = '']) => text);

const dir = mkdtempSync(path.join(tmpdir(), 'vigil-channels-page-'));
afterAll(() => rmSync(dir, { recursive: true }));

const env = {
  VIGIL_WEBHOOK_SECRET: SECRET,
  SLACK_BOT_TOKEN: 'xoxb-1',
  SLACK_APP_TOKEN: 'xapp-1',
  SLACK_WEBHOOK_URL: 'https://hooks.slack.com/services/x',
  NTFY_TOKEN: 'tk_1',
  PAGERDUTY_ROUTING_KEY: 'key',
  LINEAR_API_KEY: 'key',
};

test.each(examples.map((text, n) => [n, text] as const))('example %d of the page opens as it is written', (n, text) => {
  const file = path.join(dir, `${n}.yaml`);
  writeFileSync(file, text);
  const config = { VIGIL_DASHBOARD_URL: 'http://127.0.0.1:7420', VIGIL_ALERTS_FILE: file };
  expect(openChannels(config, { ...sinkDeps, env, write: () => {} }).sinks.length).toBeGreaterThan(1);
});

test('the file of Apprise that the page names has an address of each service that the page names', () => {
  const [, file = ''] = /\[A whole apprise\.yaml\]\((\S+)\)/.exec(page) ?? [];
  const { urls } = parseYaml(readFileSync(path.resolve(docs, file), 'utf8'), file) as {
    readonly urls: readonly string[];
  };
  expect(urls.map((url) => url.split('://')[0])).toEqual(['tgram', 'discord', 'mailtos']);
});

test('each kind has an example on the page', () => {
  for (const kind of Object.keys(KINDS)) expect(page).toContain(`kind: ${kind}`);
});
