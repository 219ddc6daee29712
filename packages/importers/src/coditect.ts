import { documentsOf } from '@vigil/policy';
import { z } from 'zod';
import {
  aSwitch,
  aText,
  copied,
  count,
  countOrNone,
  flag,
  type Given,
  no,
  type Reading,
  type Setting,
  type Settings,
  seconds,
  setting,
  unmapped,
  valuesOf,
  withoutRepeats,
} from './settings.ts';

const PREFIX = 'health_monitoring.';
const ALL_BREAKERS = [
  'breakers.tool_execution',
  'breakers.checkpoint_write',
  'breakers.external_api',
  'breakers.recovery_attempt',
  'recovery.breaker',
];

/** A breaker's three keys. */
const breaker = (at: string, ...names: readonly string[]): Settings => {
  const each = (field: string) => names.map((name) => `${name}.${field}`);
  return {
    [`${at}.failure_threshold`]: count(...each('failure_threshold')),
    [`${at}.recovery_timeout_seconds`]: seconds(...each('recovery_timeout')),
    [`${at}.half_open_requests`]: count(...each('half_open_requests')),
  };
};

/** A term of section 2 that the preset's states already contain. Any other term would need other states. */
const judged = (as: string): Setting =>
  setting(z.unknown(), (_, value) => (value === as ? null : `the preset's states judge it as ${as}: change them`));

const channels = copied(z.array(aText, no('list of channels', '["slack"]')));
const severity = copied(z.enum(['info', 'warning', 'critical'], no('severity', 'info, warning or critical')));
const alert = (route: string): Settings => ({
  [`alerting.${route}.channels`]: channels(`alerts.${route}.channels`),
  [`alerting.${route}.severity`]: severity(`alerts.${route}.severity`),
});

/** The first attempt starts at once, because the source's delays apply between attempts. */
const delays = copied(
  z.array(z.number(no('number of seconds', '60')).min(0, no('number of seconds', '60')), no('list of seconds', '[60]')),
  (given) => ['0s', ...given.map((s) => `${s}s`)],
);

/** Sections 1, 2, 4 and 7 of CODITECT's `ADR-110`. Section 7 is without its `health_monitoring`. */
export const ADR_110: Settings = {
  enabled: flag('enabled'),
  'heartbeat.interval_seconds': seconds('heartbeat.interval'),
  'heartbeat.timeout_seconds': seconds('signals.no_heartbeat.after'),
  'heartbeat.payload.*': unmapped("nothing to set: Vigil's heartbeat has these fields"),
  'health_check.interval_seconds': unmapped('nothing to set: an upper bound, and deadlines are exact here'),
  'health_check.checkpoint_stale_threshold_seconds': seconds('signals.no_checkpoint.after'),
  'progress_detection.checkpoint_comparison': setting(aSwitch, (to, on, from) => {
    if (!on) to.withoutSignals(['stale_checkpoint', 'no_checkpoint'], from);
  }),
  'progress_detection.tool_call_analysis.repeated_identical': judged('stuck'),
  'progress_detection.tool_call_analysis.no_calls_threshold': seconds('signals.no_calls.after'),
  'progress_detection.tool_call_analysis.diverse_calls': judged('healthy'),
  'progress_detection.token_consumption.sudden_spike': judged('potential_loop'),
  'progress_detection.token_consumption.zero_consumption': judged('stuck'),
  'progress_detection.token_consumption.steady_rate': judged('healthy'),
  'intervention.nudge.max_attempts': count('steps.nudge.attempts'),
  'intervention.nudge.interval_seconds': seconds('steps.nudge.interval'),
  'intervention.nudge.enabled': setting(aSwitch, (to, on, from) => {
    if (!on) to.withoutStep('nudge', from);
  }),
  'intervention.escalation.timeout_seconds': seconds('steps.escalate.timeout'),
  'intervention.termination.cleanup_timeout_seconds': seconds('steps.terminate.cleanup'),
  'circuit_breaker.states.*': unmapped('nothing to set: breakers have these states'),
  'circuit_breaker.per_agent_breakers': unmapped('nothing to set: agents have these breakers'),
  ...breaker('circuit_breaker.configuration', ...ALL_BREAKERS),
  ...breaker('circuit_breaker.default', ...ALL_BREAKERS),
  ...breaker('circuit_breaker.overrides.tool_execution', 'breakers.tool_execution'),
  ...breaker('circuit_breaker.overrides.checkpoint_write', 'breakers.checkpoint_write'),
  ...breaker('circuit_breaker.overrides.external_api', 'breakers.external_api'),
  ...breaker('circuit_breaker.overrides.recovery_attempt', 'breakers.recovery_attempt', 'recovery.breaker'),
  'recovery.max_attempts_per_task': countOrNone('recovery.max_attempts'),
  'recovery.max_attempts_per_hour': count('recovery.max_attempts_per_hour'),
  'recovery.backoff_seconds': delays('recovery.delays'),
  ...alert('stuck_agent'),
  ...alert('circuit_breaker_open'),
  ...alert('recovery_failed'),
  'health_states.*': unmapped("nothing to set: words for people; their figures are in the preset's states"),
};

/**
 * Reads YAML of one or several documents, or the fenced YAML in the standard's own page. Sections 2 and 7 repeat
 * some settings.
 */
export const readAdr110: Reading = (text, mistakes) => {
  const fenced = [...text.matchAll(/^```ya?ml\r?\n(.*?)^```/gms)].map(([, yaml]) => yaml ?? '');
  const documents = (fenced.length > 0 ? fenced : [text]).flatMap((yaml) => documentsOf(yaml, mistakes));
  const given = documents.flatMap((document) => valuesOf(document)).map(unprefixed);
  return withoutRepeats(given, mistakes);
};

const unprefixed = ({ path, value }: Given): Given => ({
  key: path.startsWith(PREFIX) ? path.slice(PREFIX.length) : path,
  path,
  value,
});
