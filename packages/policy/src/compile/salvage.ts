import { type PolicyDocument, policyDocument } from '../document/document.ts';
import type { Mistake } from '../document/mistakes.ts';

type Section = Readonly<Record<string, unknown>>;

/**
 * The readable part of a document with mistakes, so that one mistake hides no other. Sections with names keep each readable name.
 * Lists keep each entry at its number, with '' in place of a wrong one. Other sections stay if they have no mistake.
 * Null: nothing can be read.
 */
export const salvaged = (written: unknown, mistakes: readonly Mistake[]): PolicyDocument | null => {
  if (!isSection(written)) return null;
  const bad = new Set(mistakes.map(({ path }) => path[0]));
  const badExemptions = new Set(mistakes.filter(({ path }) => path[0] === 'exemptions').map(({ path }) => path[1]));
  const sound = Object.entries(written).filter(([section]) => section in policyDocument.shape && !bad.has(section));
  const { signals, states, exemptions, plans, warrant, ticket } = written;
  const rest = policyDocument.safeParse({
    policy: 'unnamed',
    states: isSection(states) ? textsOf(states) : {},
    signals: isSection(signals) ? emptied(signals) : {},
    exemptions: isSection(exemptions) ? without(exemptions, badExemptions) : {},
    plans: Array.isArray(plans) ? plans.map(whenOnly) : [],
    warrant: isSection(warrant) ? lease(warrant) : {},
    ticket: isSection(ticket) && Array.isArray(ticket.bands) ? { bands: ticket.bands.map(stepsOnly) } : null,
    ...Object.fromEntries(sound),
  });
  return rest.success ? rest.data : null;
};

const isSection = (written: unknown): written is Section =>
  typeof written === 'object' && written !== null && !Array.isArray(written);

const without = (section: Section, names: ReadonlySet<PropertyKey | undefined>): Section =>
  Object.fromEntries(Object.entries(section).filter(([name]) => !names.has(name)));

const texts = (list: unknown): string[] =>
  Array.isArray(list) ? list.map((entry) => (typeof entry === 'string' ? entry : '')) : [];

const textsOf = (states: Section): Section =>
  Object.fromEntries(Object.keys(policyDocument.shape.states.shape).map((state) => [state, texts(states[state])]));

/** Its two figures are compared where both can be read. */
const lease = ({ renew, void: until }: Section): Section => {
  const both = { renew, void: until };
  return policyDocument.shape.warrant.safeParse(both).success ? both : {};
};

/** A band without its number of steps is placed at a number that no other band has. */
const stepsOnly = (band: unknown, i: number): Section => {
  const at = isSection(band) ? Number(band.at) : 0;
  return { at: Number.isSafeInteger(at) && at > 0 ? at : Number.MAX_SAFE_INTEGER - i, severity: 'low' };
};

const emptied = (signals: Section): Section =>
  Object.fromEntries(
    Object.entries(signals)
      .filter(([name]) => policyDocument.shape.signals.keyType.safeParse(name).success)
      .map(([name, settings]) => [name, isSection(settings) ? settings : {}]),
  );

/** A plan whose steps have mistakes still has its `when`. */
const whenOnly = (plan: unknown): Section => {
  const when = isSection(plan) ? plan.when : undefined;
  const lines = Array.isArray(when) && when.length > 0 ? when : [when];
  return { when: lines.map((line) => (typeof line === 'string' ? line : 'STUCK')), do: ['recover'] };
};
