import { wrongRoutes } from '../document/alerts.ts';
import { type PolicyDocument, policyDocument } from '../document/document.ts';
import { CorrectThePolicy, checkDepth, type Mistakes, place, reading, spelled } from '../document/mistakes.ts';
import { exemptionsOf, statesOf, usesOf } from '../document/names.ts';
import type { RecoverySettings } from '../document/plan.ts';
import { plansOf } from '../document/plans.ts';
import { documentsOf } from '../document/yaml.ts';
import { canonicalJson, contentHash } from '../values/canonical.ts';
import { spell } from '../values/duration.ts';
import type { CompiledPolicy, Ticketing, Vocabulary } from './compiled.ts';
import { salvaged } from './salvage.ts';
import { warningsOf } from './warnings.ts';

/**
 * Text of a YAML (or JSON) file as plain data. Throws CorrectThePolicy if it cannot be read. `source` names the file.
 */
export const parseYaml = (text: string, source: string): unknown => {
  const mistakes: string[] = [];
  const [document = null, ...more] = documentsOf(text, mistakes);
  if (more.length > 0)
    mistakes.push(
      `document: ${more.length + 1} documents are in this file, separated by ---: write each into a file of its own`,
    );
  if (mistakes.length === 0) return document;
  throw new CorrectThePolicy(source, mistakes);
};

/** Text of a YAML (or JSON) file → a policy ready to judge with. Throws CorrectThePolicy with every mistake. `source` names the file. */
export const loadPolicy = (text: string, source: string, vocabulary: Vocabulary): CompiledPolicy =>
  compile(parseYaml(text, source), source, vocabulary);

/** A document as parsed → a policy ready to judge with. Throws CorrectThePolicy with every mistake. */
export const compile = (written: unknown, source: string, vocabulary: Vocabulary): CompiledPolicy => {
  checkDepth(written, source);
  const read = reading(policyDocument, written);
  const mistaken = 'value' in read ? [] : read.mistakes;
  const document = 'value' in read ? read.value : salvaged(written, mistaken);
  const mistakes: Mistakes = [];
  const policy = document && resolve(document, canonicalJson(written), vocabulary, mistakes);
  if (policy && mistaken.length + mistakes.length === 0)
    return { ...policy, warnings: warningsOf(document, policy, vocabulary) };
  const places = mistaken.map(({ path }) => `${place(path)}`);
  const others = mistakes.filter(
    (other) => !places.some((at) => other.startsWith(`${at}.`) || other.startsWith(`${at}:`)),
  );
  throw new CorrectThePolicy(source, [...mistaken.map((mistake) => spelled(mistake)), ...others]);
};

const resolve = (d: PolicyDocument, document: string, vocabulary: Vocabulary, mistakes: Mistakes): CompiledPolicy => {
  const uses = usesOf(d, vocabulary, mistakes);
  mistakes.push(...contradictions(d));
  return {
    name: d.policy,
    hash: contentHash(document),
    document,
    enabled: d.enabled,
    exclude: d.exclude,
    heartbeat: {
      intervalMs: d.heartbeat.interval,
      lostAfterMs: d.heartbeat.lost_after,
      trustedForMs: d.heartbeat.trusted_for,
    },
    clockToleranceMs: d.clock_tolerance,
    uses,
    exemptions: exemptionsOf(d, vocabulary, mistakes),
    states: statesOf(d, uses, mistakes),
    warrant: {
      label: d.warrant.label,
      requester: d.warrant.requester,
      renewMs: d.warrant.renew,
      voidMs: d.warrant.void,
    },
    plans: plansOf(d, uses, vocabulary, mistakes),
    breakers: d.breakers,
    ticket: ticketingOf(d.ticket),
    files: {
      dispatchLog: d.files.dispatch_log,
      recovery: d.files.recovery,
      partialState: d.files.partial_state,
      friction: d.files.friction,
    },
    spending: d.spending,
    recovery: recoveryOf(d.recovery),
    alerts: d.alerts,
    warnings: [],
  };
};

/** Settings that are each valid but contradict each other. */
const contradictions = ({ warrant, ticket, alerts }: PolicyDocument): string[] => {
  const found: string[] = [...wrongRoutes(alerts, ticket !== null)];
  if (warrant.void <= warrant.renew)
    found.push(
      `warrant.void: ${spell(warrant.void)} is not above warrant.renew (${spell(warrant.renew)}): a warrant would end between two renewals; write three times renew`,
    );
  for (const [i, { at }] of (ticket?.bands ?? []).entries())
    if (ticket?.bands.findIndex((band) => band.at === at) !== i)
      found.push(`ticket.bands[${i}].at: ${at} is in an earlier band already: write another number of steps`);
  return found;
};

const ticketingOf = (ticket: PolicyDocument['ticket']): Ticketing | null => {
  if (ticket === null) return null;
  const bands = ticket.bands.map(({ at, severity, needs_loop: needsLoop }) => ({ at, severity, needsLoop }));
  return { bands: bands.sort((a, b) => a.at - b.at), stallMs: ticket.stall, graceMs: ticket.grace };
};

const recoveryOf = (r: PolicyDocument['recovery']): RecoverySettings => ({
  maxAttempts: r.max_attempts,
  delaysMs: r.delays,
  jitter: r.jitter,
  spawnDeadlineMs: r.spawn_deadline,
  probationMs: r.probation,
  stableMs: r.stable,
  limitWaitMs: r.limit_wait,
  onProbationFailure: r.on_probation_failure,
  breaker: r.breaker,
  emitHealthcheck: r.emit_healthcheck,
  resetAttempts: r.reset_attempts,
  maxAttemptsPerHour: r.max_attempts_per_hour,
});
