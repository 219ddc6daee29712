import { parseDocument } from 'yaml';
import type { z } from 'zod';
import { canonicalJson, contentHash } from './canonical.ts';
import type {
  CompiledPlan,
  CompiledPolicy,
  JudgedState,
  Term,
  Ticketing,
  Together,
  Use,
  Vocabulary,
} from './compiled.ts';
import { type PolicyDocument, policyDocument } from './document.ts';
import { spell } from './duration.ts';
import { CorrectThePolicy } from './errors.ts';
import { unreadable } from './exclude.ts';
import type { RecoverySettings } from './plan.ts';

const WORST_FIRST: readonly JudgedState[] = ['FAILING', 'STUCK', 'DEGRADED'];
/** After a gap the clock stands this long more, until the watched can be heard again (docs/architecture.md: time is a record). */
const SETTLING_MS = 3_000;

type Mistakes = string[];
type Path = readonly PropertyKey[];

/** Text of a YAML (or JSON) file → a policy ready to judge with. Throws CorrectThePolicy with every mistake. `source` names the file. */
export function loadPolicy(text: string, source: string, vocabulary: Vocabulary): CompiledPolicy {
  const yaml = parseDocument(text, { merge: true });
  if (yaml.errors.length > 0) {
    throw new CorrectThePolicy(
      source,
      yaml.errors.map((error) => error.message),
    );
  }
  return compile(yaml.toJS(), source, vocabulary);
}

/** A document as parsed → a policy ready to judge with. Throws CorrectThePolicy with every mistake. */
export function compile(written: unknown, source: string, vocabulary: Vocabulary): CompiledPolicy {
  const mistakes: Mistakes = [];
  const document = documentOf(written, mistakes);
  const policy = document && resolve(document, canonicalJson(written), vocabulary, mistakes);
  if (mistakes.length > 0 || !policy) throw new CorrectThePolicy(source, mistakes);
  return policy;
}

/** What is wrong in one section does not hide what is wrong in another: that one is left out, and the rest is read. Null: nothing can be read. */
function documentOf(written: unknown, mistakes: Mistakes): PolicyDocument | null {
  const read = policyDocument.safeParse(written);
  if (read.success) return read.data;
  mistakes.push(...read.error.issues.map((issue) => mistake(issue, [])));
  if (typeof written !== 'object' || written === null) return null;
  const bad = new Set(read.error.issues.map(({ path }) => path[0]));
  const sound = Object.entries(written).filter(([section]) => section in policyDocument.shape && !bad.has(section));
  const rest = policyDocument.safeParse({ policy: 'unnamed', states: {}, ...Object.fromEntries(sound) });
  return rest.success ? rest.data : null;
}

function mistake({ code, message, path }: z.core.$ZodIssue, within: Path): string {
  const remedy = code === 'unrecognized_keys' ? ': correct its spelling or remove it' : '';
  return `${place([...within, ...path])}: ${message}${remedy}`;
}

function resolve(d: PolicyDocument, document: string, vocabulary: Vocabulary, mistakes: Mistakes): CompiledPolicy {
  const uses = usesOf(d, vocabulary, mistakes);
  const exemptions = exemptionsOf(d, vocabulary, mistakes);
  mistakes.push(...unreadable(d.exclude));
  if (d.warrant.void <= d.warrant.renew)
    mistakes.push(
      `warrant.void: ${spell(d.warrant.void)} is not above warrant.renew (${spell(d.warrant.renew)}): a warrant would end between two renewals; write three times renew`,
    );
  return {
    name: d.policy,
    hash: contentHash(document),
    document,
    enabled: d.enabled,
    exclude: d.exclude,
    heartbeat: { intervalMs: d.heartbeat.interval, lostAfterMs: d.heartbeat.lost_after },
    clockToleranceMs: d.clock_tolerance,
    uses,
    states: WORST_FIRST.map((state) => ({ state, anyOf: alternatives(d.states[state], state, uses, mistakes) })),
    exemptions,
    warrant: {
      label: d.warrant.label,
      requester: d.warrant.requester,
      renewMs: d.warrant.renew,
      voidMs: d.warrant.void,
    },
    plans: d.plans.map((plan, i) => planOf(plan, i, uses, vocabulary, mistakes)),
    breakers: d.breakers,
    ticket: ticketingOf(d.ticket),
    files: {
      dispatchLog: d.files.dispatch_log,
      friction: d.files.friction,
      recovery: d.files.recovery,
    },
    recovery: recoveryOf(d.recovery),
    alerts: d.alerts,
    warnings: shortAbsences(d, uses, vocabulary),
  };
}

/** In order of name, so that documents of one hash compile to one policy. */
function usesOf(d: PolicyDocument, { signals }: Vocabulary, mistakes: Mistakes): readonly Use[] {
  const inOrder = Object.entries(d.signals).sort(([a], [b]) => (a < b ? -1 : 1));
  return inOrder.map(([name, { is = name, unless = [], ...limits }]) => {
    const signal = String(is);
    const quiets = (Array.isArray(unless) ? unless : [unless]).map((other) => {
      const at = inOrder.findIndex(([declared]) => declared === other);
      if (at < 0)
        mistakes.push(`signals.${name}.unless: ${other} is not declared: add it under signals, as "${other}: {}"`);
      return at;
    });
    const known = signals[signal];
    if (!known) {
      mistakes.push(`signals.${name}: there is no signal ${signal}: write one of ${Object.keys(signals).join(', ')}`);
      return { name, signal, limits, unless: quiets };
    }
    return { name, signal, limits: settingsOf(known.limits, limits, ['signals', name], mistakes), unless: quiets };
  });
}

function exemptionsOf(d: PolicyDocument, { exemptions }: Vocabulary, mistakes: Mistakes) {
  for (const name of Object.keys(d.exemptions))
    if (!(name in exemptions))
      mistakes.push(
        `exemptions.${name}: there is no such exemption: write one of ${Object.keys(exemptions).join(', ')}`,
      );
  return Object.entries(exemptions).flatMap(([name, { limits }]) => {
    const written = d.exemptions[name] ?? true;
    if (written === false) return [];
    return [{ name, limits: settingsOf(limits, written === true ? {} : written, ['exemptions', name], mistakes) }];
  });
}

function settingsOf(schema: Vocabulary['signals'][string]['limits'], written: unknown, at: Path, mistakes: Mistakes) {
  const read = schema.safeParse(written);
  if (read.success) return read.data;
  mistakes.push(...read.error.issues.map((issue) => mistake(issue, at)));
  return written;
}

function alternatives(lines: readonly string[], state: string, uses: readonly Use[], mistakes: Mistakes): Together[] {
  return lines.map((line, i) =>
    split(line).map((name) => {
      const use = uses.findIndex((u) => u.name === name);
      if (use < 0)
        mistakes.push(`states.${state}[${i}]: ${name} is not declared: add it under signals, as "${name}: {}"`);
      return use;
    }),
  );
}

function planOf(
  plan: PolicyDocument['plans'][number],
  index: number,
  uses: readonly Use[],
  vocabulary: Vocabulary,
  mistakes: Mistakes,
): CompiledPlan {
  const anyOf = plan.when.map((line) => split(line).map((word) => termOf(word, index, uses, vocabulary, mistakes)));
  return { name: plan.when.join(' or '), steps: plan.do, anyOf };
}

function termOf(word: string, plan: number, uses: readonly Use[], vocabulary: Vocabulary, mistakes: Mistakes): Term {
  const state = WORST_FIRST.find((s) => s === word);
  if (state) return { kind: 'state', state };
  const use = uses.findIndex((u) => u.name === word);
  if (use < 0 && !(word in vocabulary.exemptions))
    mistakes.push(
      `plans[${plan}].when: ${word} is neither a state (${WORST_FIRST.join(', ')}) nor declared under signals nor an exemption`,
    );
  return use < 0 ? { kind: 'exemption', exemption: word } : { kind: 'use', use };
}

function ticketingOf(ticket: PolicyDocument['ticket']): Ticketing | null {
  if (ticket === null) return null;
  const bands = ticket.bands.map(({ at, severity, needs_loop: needsLoop }) => ({ at, severity, needsLoop }));
  return { bands: bands.sort((a, b) => a.at - b.at), stallMs: ticket.stall, graceMs: ticket.grace };
}

function recoveryOf(r: PolicyDocument['recovery']): RecoverySettings {
  return {
    maxAttempts: r.max_attempts,
    delaysMs: r.delays,
    jitter: r.jitter,
    spawnDeadlineMs: r.spawn_deadline,
    probationMs: r.probation,
    stableMs: r.stable,
    onProbationFailure: r.on_probation_failure,
    breaker: r.breaker,
    emitHealthcheck: r.emit_healthcheck,
  };
}

function shortAbsences(d: PolicyDocument, uses: readonly Use[], { signals }: Vocabulary): readonly string[] {
  const least = 2 * d.heartbeat.interval + SETTLING_MS;
  return uses.flatMap(({ name, signal, limits }) => {
    const after = signals[signal]?.axis === 'absence' ? (limits as { after?: unknown }).after : undefined;
    if (typeof after !== 'number' || after > least) return [];
    return `signals.${name}.after: ${spell(after)} is not above ${spell(least)} (two heartbeat intervals and settling): one lost heartbeat would accuse`;
  });
}

const split = (line: string): string[] => line.split('+').map((word) => word.trim());

function place(path: Path): string {
  return (
    path.reduce<string>(
      (at, key) => (typeof key === 'number' ? `${at}[${key}]` : at ? `${at}.${String(key)}` : String(key)),
      '',
    ) || 'document'
  );
}
