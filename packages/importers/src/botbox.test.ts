import { mistakesOf } from '@vigil/policy/fixture';
import { expect, test } from 'vitest';
import { migrateBotbox } from './botbox.ts';
import { mistakesIn, policyOf, preset, steps, unmappedOf } from './importing.fixture.ts';
import { BOTBOX_JSON } from './sources.fixture.ts';

test('the section of the proposal gives the preset botbox', () => {
  expect(policyOf('botbox', BOTBOX_JSON)).toEqual(preset('botbox'));
  expect(unmappedOf('botbox', BOTBOX_JSON)).toEqual([]);
});

test('a file without the section gives the preset, and a note about that', () => {
  expect(policyOf('botbox', '{}')).toEqual(preset('botbox'));
  expect(unmappedOf('botbox', '{}')).toEqual(['agents.health']);
});

test('an empty section gives the preset: each of its keys has a default', () => {
  expect(policyOf('botbox', '{"agents":{"health":{}}}')).toEqual(preset('botbox'));
  expect(unmappedOf('botbox', '{"agents":{"health":{}}}')).toEqual([]);
  expect(unmappedOf('botbox', '{"agents":{"health":{"colour":3}}}')).toEqual(['agents.health.colour']);
});

test.each([
  ['[]', 'document: is not a JSON object: give a .botbox.json'],
  ['{"agents":5}', 'agents: is not an object: correct it, as botbox init writes it'],
  ['{"agents":null}', 'agents: is not an object: correct it, as botbox init writes it'],
  ...['null', '[1]', '5', '"on"'].map((health) => [
    `{"agents":{"health":${health}}}`,
    'agents.health: is not an object: correct it, or remove it and let --migrate write it',
  ]),
])('%s is the same mistake in an import and in a migration', (text, mistake) => {
  expect(mistakesIn('botbox', text)).toEqual([mistake]);
  expect(mistakesOf(() => migrateBotbox(text))).toEqual([mistake]);
});

test('each setting changes its policy field', () => {
  const text = BOTBOX_JSON.replace('"enabled": true', '"enabled": false')
    .replace(': 15,', ': 1,')
    .replace(': 10,', ': 2,')
    .replace(': 60,', ': 3,')
    .replace(': 5,', ': 4,')
    .replace('"auto_kill_on_idle": true', '"auto_kill_on_idle": false')
    .replace('"auto_kill_on_repeated_error": false', '"auto_kill_on_repeated_error": true')
    .replace('"ops"', '"night-shift"');
  const policy = policyOf('botbox', text);
  expect(policy).toMatchObject({ enabled: false, alerts: { stuck_agent: { channels: ['night-shift'] } } });
  expect(policy.signals).toMatchObject({
    no_output: { after: '1m' },
    no_completion: { after: '2m' },
    repeated_error: { times: 4 },
  });
  expect(steps(policy, 'rate_limited')).toEqual([{ pause: { backoff: '3s' } }]);
  expect(steps(policy, 'no_output')).toEqual([{ alert: 'night-shift' }]);
  expect(steps(policy, 'repeated_error').map((one: object) => Object.keys(one)[0])).toEqual([
    'terminate',
    'block',
    'alert',
  ]);
});

test('invalid JSON, and an invalid figure, are named', () => {
  expect(mistakesIn('botbox', '{\n"agents": }')).toEqual(['line 2: ValueExpected: correct the JSON']);
  expect(mistakesIn('botbox', BOTBOX_JSON.replace('15', '"long"'))).toEqual([
    'agents.health.idle_timeout_minutes: "long" is not a number of minutes: write one like 10',
  ]);
});
