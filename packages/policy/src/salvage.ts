import { type PolicyDocument, policyDocument } from './document.ts';
import type { Mistake } from './mistakes.ts';

type Section = Readonly<Record<string, unknown>>;

/**
 * What can be read of a document with mistakes, so that one mistake hides no other: of sections with names in them, each name; of the
 * others, those without a mistake. Null: nothing can be read.
 */
export function salvaged(written: unknown, mistakes: readonly Mistake[]): PolicyDocument | null {
  if (!isSection(written)) return null;
  const bad = new Set(mistakes.map(({ path }) => path[0]));
  const badIn = (section: string) =>
    new Set(mistakes.filter(({ path }) => path[0] === section).map(({ path }) => path[1]));
  const sound = Object.entries(written).filter(([section]) => section in policyDocument.shape && !bad.has(section));
  const { signals, states, exemptions, plans } = written;
  const rest = policyDocument.safeParse({
    policy: 'unnamed',
    states: isSection(states) ? without(states, badIn('states')) : {},
    signals: isSection(signals) ? emptied(signals) : {},
    exemptions: isSection(exemptions) ? without(exemptions, badIn('exemptions')) : {},
    plans: Array.isArray(plans) ? plans.map(whenOnly) : [],
    ...Object.fromEntries(sound),
  });
  return rest.success ? rest.data : null;
}

const isSection = (written: unknown): written is Section =>
  typeof written === 'object' && written !== null && !Array.isArray(written);

const without = (section: Section, names: ReadonlySet<PropertyKey | undefined>): Section =>
  Object.fromEntries(Object.entries(section).filter(([name]) => !names.has(name)));

const emptied = (signals: Section): Section =>
  Object.fromEntries(
    Object.entries(signals)
      .filter(([name]) => policyDocument.shape.signals.keyType.safeParse(name).success)
      .map(([name, settings]) => [name, isSection(settings) ? settings : {}]),
  );

/** A plan whose steps have mistakes still says when. */
function whenOnly(plan: unknown): Section {
  const when = isSection(plan) ? plan.when : undefined;
  const lines = Array.isArray(when) ? when : [when];
  return { when: lines.map((line) => (typeof line === 'string' ? line : 'STUCK')), do: ['recover'] };
}
