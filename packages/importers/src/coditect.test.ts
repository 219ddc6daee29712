import { expect, test } from 'vitest';
import { imported, mistakesIn, policyOf, preset, steps, unmappedOf } from './importing.fixture.ts';
import { ADR_110_YAML } from './sources.fixture.ts';

test('the YAML of CODITECT gives the preset coditect, and each line names its key', () => {
  expect(policyOf('adr-110', ADR_110_YAML)).toEqual(preset('coditect'));
  const { yaml } = imported('adr-110', ADR_110_YAML, 'adr-110.yaml');
  expect(yaml).toMatch(/^# From adr-110.yaml \(CODITECT's YAML, sections 2 and 7\)/);
  expect(yaml).toContain(
    'no_checkpoint: { after: 1800s, assume_checkpoints: true } # health_monitoring.health_check.checkpoint_stale_threshold_seconds: 1800',
  );
});

test('a setting without a counterpart in a policy is named, with the reason', () => {
  expect(imported('adr-110', ADR_110_YAML).unmapped).toEqual([
    { path: 'heartbeat.payload', why: expect.stringMatching(/has these fields/) },
    { path: 'health_monitoring.health_check.interval_seconds', why: expect.stringMatching(/deadlines are exact/) },
  ]);
});

test.each([
  ['enabled: true', 'enabled: false', ['enabled'], false],
  ['    interval_seconds: 300', '    interval_seconds: 301', ['heartbeat', 'interval'], '301s'],
  ['timeout_seconds: 600 # 10', 'timeout_seconds: 601 # 10', ['signals', 'no_heartbeat', 'after'], '601s'],
  ['threshold_seconds: 1800', 'threshold_seconds: 1', ['signals', 'no_checkpoint', 'after'], '1s'],
  ['no_calls_threshold: 900', 'no_calls_threshold: 1', ['signals', 'no_calls', 'after'], '1s'],
  ['max_attempts_per_task: 3', 'max_attempts_per_task: 7', ['recovery', 'max_attempts'], 7],
  ['max_attempts_per_hour: 5', 'max_attempts_per_hour: 9', ['recovery', 'max_attempts_per_hour'], 9],
  ['[60, 120, 240]', '[1, 2]', ['recovery', 'delays'], ['0s', '1s', '2s']],
  ['failure_threshold: 5', 'failure_threshold: 6', ['breakers', 'tool_execution', 'failure_threshold'], 6],
  [
    'recovery_timeout_seconds: 120',
    'recovery_timeout_seconds: 1',
    ['breakers', 'checkpoint_write', 'recovery_timeout'],
    '1s',
  ],
  [
    'recovery_timeout_seconds: 60',
    'recovery_timeout_seconds: 1',
    ['breakers', 'external_api', 'recovery_timeout'],
    '1s',
  ],
  ['half_open_requests: 1', 'half_open_requests: 2', ['breakers', 'tool_execution', 'half_open_requests'], 2],
  ['severity: "critical"', 'severity: "info"', ['alerts', 'recovery_failed', 'severity'], 'info'],
  ['channels: ["slack"]', 'channels: ["ops"]', ['alerts', 'circuit_breaker_open', 'channels'], ['ops']],
])('%s → %s changes %j', (from, to, place, value) => {
  const only = ADR_110_YAML.slice(ADR_110_YAML.indexOf('progress_detection:'));
  const changed = policyOf('adr-110', only.replace(from, to));
  expect(place.reduce((at, key) => at[key], changed)).toEqual(value);
});

test.each([
  ['max_attempts: 3', 'max_attempts: 4', 'nudge', 'attempts', 4],
  ['interval_seconds: 600', 'interval_seconds: 5', 'nudge', 'interval', '5s'],
  ['timeout_seconds: 900', 'timeout_seconds: 5', 'escalate', 'timeout', '5s'],
  ['cleanup_timeout_seconds: 30', 'cleanup_timeout_seconds: 5', 'terminate', 'cleanup', '5s'],
])('%s → %s changes the step', (from, to, step, setting, value) => {
  const plan = steps(policyOf('adr-110', ADR_110_YAML.replace(from, to)), 'STUCK');
  expect(plan.find((one: object) => step in one)[step][setting]).toBe(value);
});

test('a disabled nudge is omitted, and so are checkpoints without comparison', () => {
  const text = ADR_110_YAML.replace('nudge:\n      enabled: true', 'nudge:\n      enabled: false').replace(
    'checkpoint_comparison: true',
    'checkpoint_comparison: false',
  );
  const policy = policyOf('adr-110', text);
  expect(steps(policy, 'STUCK').map((one: object | string) => Object.keys(Object(one))[0])).not.toContain('nudge');
  expect(JSON.stringify([policy.signals, policy.states])).not.toContain('checkpoint');
});

test('the fenced YAML of the page itself is read', () => {
  const page = `# ADR-110\n\n\`\`\`yaml\n${ADR_110_YAML}\`\`\`\n\n- Automatic Detection: yes: no\n`;
  expect(policyOf('adr-110', page)).toEqual(preset('coditect'));
});

test('all mistakes are reported at once, with path, index and remedy', () => {
  const text = ADR_110_YAML.replace('[60, 120, 240]', '[60, soon]')
    .replace('max_attempts: 3', 'max_attempts: 0')
    .replace('    timeout_seconds: 600 # 10', '    timeout_seconds: 700 # 10')
    .replace('severity: "critical"', 'severity: "loud"');
  expect(mistakesIn('adr-110', text)).toEqual([
    'health_monitoring.heartbeat.timeout_seconds: 700, but heartbeat.timeout_seconds is 600: keep one of them',
    'health_monitoring.intervention.nudge.max_attempts: 0 is not a whole number from 1: write one like 3',
    'health_monitoring.recovery.backoff_seconds[1]: "soon" is not a number of seconds: write one like 60',
    'health_monitoring.alerting.recovery_failed.severity: "loud" is not a severity: write one like info, warning or critical',
  ]);
});

test('an unknown key and a term with other states are reported', () => {
  const text = ADR_110_YAML.replace('enabled: true', 'enabled: true\n  dashboards: 3').replace(
    'repeated_identical: stuck',
    'repeated_identical: degraded',
  );
  expect(unmappedOf('adr-110', text)).toContain('health_monitoring.dashboards');
  expect(unmappedOf('adr-110', text)).toContain('progress_detection.tool_call_analysis.repeated_identical');
});
