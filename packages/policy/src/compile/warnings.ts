import { SINK_KINDS } from '../channels/sink-kinds.ts';
import type { PolicyDocument } from '../document/document.ts';
import type { PlannedStep } from '../document/plan.ts';
import { whenAt } from '../document/plans.ts';
import { spell } from '../values/duration.ts';
import { nearest } from '../values/spelling.ts';
import { endsBeforeLost } from './brake.ts';
import type { CompiledPlan, CompiledPolicy, Term, Use, Vocabulary } from './compiled.ts';

/**
 * After a gap the clock stands still for this much longer, until agents can report again (docs/architecture.md: time is
 * a record).
 */
const SETTLING_MS = 3_000;
/** Usual names of channels. Alerting's own file may define others. */
const CHANNELS: readonly string[] = ['console', ...SINK_KINDS, 'ops'];
/** The signals that show a loop to a band that needs one. */
const LOOPS = ['repeated_calls', 'repeated_error'];

/** Warnings about probable mistakes in a policy that is valid. */
export const warningsOf = (d: PolicyDocument, policy: CompiledPolicy, vocabulary: Vocabulary): readonly string[] => [
  ...shortAbsences(policy, vocabulary),
  ...unused(policy),
  ...policy.plans.flatMap((_, i) => unmatchable(d, policy, vocabulary, i)),
  ...endsBeforeLost(policy),
  ...misspeltChannels(policy),
  ...unreported(policy),
  ...(d.ticket && d.ticket.bands.length === 0 && d.ticket.stall === null
    ? ['ticket: has neither bands nor stall, so no ticket is ever filed: add one, or remove the section']
    : []),
];

const shortAbsences = (policy: CompiledPolicy, { signals }: Vocabulary): string[] => {
  const least = 2 * policy.heartbeat.intervalMs + SETTLING_MS;
  const acting = signalsThatAct(policy);
  return policy.uses.flatMap(({ name, signal, limits }, i) => {
    const after = signals[signal]?.axis === 'absence' ? (limits as { after?: unknown }).after : undefined;
    if (typeof after !== 'number' || after > least || !acting.has(i)) return [];
    return `signals.${name}.after: ${spell(after)} is not above ${spell(least)} (two heartbeat intervals and settling): one lost heartbeat would cause a finding`;
  });
};

/** The signals that make an agent STUCK or FAILING, or lead to a plan. DEGRADED alone has no consequences. */
const signalsThatAct = ({ states, plans }: CompiledPolicy): ReadonlySet<number> => {
  const terms = plans.flatMap(({ anyOf }) => anyOf.flat());
  const acting = new Set(terms.flatMap((term) => (term.kind === 'state' ? [term.state] : [])));
  const grave = states.filter(({ state }) => state !== 'DEGRADED' || acting.has(state));
  return new Set([...grave.flatMap(({ anyOf }) => anyOf.flat()), ...named(terms)]);
};

const named = (terms: readonly Term[]): number[] => terms.flatMap((term) => (term.kind === 'use' ? [term.use] : []));

const unused = ({ uses, states, plans, ticket }: CompiledPolicy): string[] => {
  const loops = ticket?.bands.some(({ needsLoop }) => needsLoop) ? LOOPS : [];
  const used = new Set([
    ...states.flatMap(({ anyOf }) => anyOf.flat()),
    ...uses.flatMap(({ unless, signal }, i) => [...unless, ...(loops.includes(signal) ? [i] : [])]),
    ...plans.flatMap(({ anyOf }) => named(anyOf.flat())),
  ]);
  return uses.flatMap(({ name }, i) =>
    used.has(i) ? [] : `signals.${name}: no state, plan or unless names it: it is only shown; name it, or remove it`,
  );
};

const unmatchable = (d: PolicyDocument, policy: CompiledPolicy, vocabulary: Vocabulary, i: number): string[] => {
  const written = d.plans[i];
  const plan = policy.plans[i];
  if (!written || !plan) return [];
  return plan.anyOf.flatMap((terms, j) => {
    const why = impossible(terms, policy, vocabulary) ?? overtaken(terms, policy.plans.slice(0, i));
    return why === null ? [] : `${whenAt(written, i, j)}: can never match: ${why}`;
  });
};

const impossible = (terms: readonly Term[], policy: CompiledPolicy, vocabulary: Vocabulary): string | null => {
  const states = terms.flatMap((term) => (term.kind === 'state' ? [term.state] : []));
  if (new Set(states).size > 1) return `an agent is never ${states.join(' and ')} at once`;
  const empty = policy.states.find(({ state, anyOf }) => states.includes(state) && anyOf.length === 0);
  if (empty) return `nothing makes an agent ${empty.state}: list signals under states.${empty.state}`;
  for (const term of terms) {
    if (term.kind !== 'exemption') continue;
    const { exemption } = term;
    if (!policy.exemptions.some(({ name }) => name === exemption)) return `the exemption ${exemption} is switched off`;
    const suspended = policy.uses.find((use, u) => isNamed(terms, u) && suspends(exemption, use, vocabulary));
    if (suspended) return `while ${exemption} holds, ${suspended.name} does not count`;
  }
  return null;
};

const isNamed = (terms: readonly Term[], use: number): boolean => terms.some((t) => t.kind === 'use' && t.use === use);

const suspends = (exemption: string, { signal, limits }: Use, { signals, exemptions }: Vocabulary): boolean => {
  const known = signals[signal];
  const axes = exemptions[exemption]?.suspends ?? [];
  return (
    known !== undefined && !known.notSuspendedBy?.(limits as never).includes(exemption) && axes.includes(known.axis)
  );
};

/** The first match wins, so an earlier plan with a subset of the terms always matches instead. */
const overtaken = (terms: readonly Term[], before: readonly CompiledPlan[]): string | null => {
  const all = new Set(terms.map(textOf));
  const earlier = before.findIndex(({ anyOf }) => anyOf.some((fewer) => fewer.every((term) => all.has(textOf(term)))));
  return earlier < 0 ? null : `plans[${earlier}] matches first: move it up, or remove it`;
};

const textOf = (term: Term): string => JSON.stringify(term);

const misspeltChannels = ({ plans, alerts }: CompiledPolicy): string[] => {
  const named = [
    ...plans.flatMap(({ steps }, i) =>
      steps.flatMap((s, j) =>
        s.step === 'alert' && s.channel !== null ? [[`plans[${i}].do[${j}].alert`, s.channel]] : [],
      ),
    ),
    ...Object.entries(alerts).flatMap(([event, settings]) =>
      settings === false ? [] : settings.channels.map((channel, k) => [`alerts.${event}.channels[${k}]`, channel]),
    ),
  ] as const;
  return named.flatMap(([at, channel = '']) => {
    const usual = CHANNELS.includes(channel) ? null : nearest(channel, CHANNELS);
    return usual === null ? [] : `${at}: did you mean ${usual}? ${channel} must be in alerting's VIGIL_ALERTS_FILE`;
  });
};

/** The steps that notify people by an alert of the route `stuck_agent`, where the policy turns it off. */
const unreported = ({ plans, alerts }: CompiledPolicy): string[] =>
  alerts.stuck_agent !== false
    ? []
    : plans.flatMap(({ steps }, i) =>
        steps.flatMap((s, j) => {
          const why = unreportedBy(s);
          return why === null ? [] : `plans[${i}].do[${j}].${s.step}: alerts.stuck_agent is false, so ${why}`;
        }),
      );

const unreportedBy = (planned: PlannedStep): string | null => {
  if (planned.step === 'alert' && planned.channel === null) return 'no one is notified: name a channel';
  if (planned.step === 'escalate') return 'only `vigil inbox` shows the question: write a severity there';
  if (planned.step === 'terminate') return 'no one is notified of an unconfirmed end: write a severity there';
  return null;
};
