import type { CompiledPolicy, JudgedState, Together, Use, Vocabulary } from '../compile/compiled.ts';
import { insteadOf, nearest } from '../values/spelling.ts';
import type { PolicyDocument } from './document.ts';
import { type Mistakes, type Path, reading, spelled } from './mistakes.ts';

export const WORST_FIRST: readonly JudgedState[] = ['FAILING', 'STUCK', 'DEGRADED'];

/** `a + b`: names that hold together. */
export const together = (line: string): string[] => line.split('+').map((word) => word.trim());

/** The signals by name. They are sorted, so that documents with the same hash compile to the same policy. */
export const usesOf = (d: PolicyDocument, { signals }: Vocabulary, mistakes: Mistakes): readonly Use[] => {
  const inOrder = Object.entries(d.signals).sort(([a], [b]) => (a < b ? -1 : 1));
  const names = inOrder.map(([name]) => name);
  const uses = inOrder.map(([name, { is = name, unless = [], ...limits }]): Use => {
    const signal = String(is);
    const quiets = (Array.isArray(unless) ? unless : [unless]).map((other) => {
      if (other === name) mistakes.push(`signals.${name}.unless: ${name} would quiet itself: name another signal`);
      else if (!names.includes(other)) mistakes.push(`signals.${name}.unless: ${undeclared(String(other), names)}`);
      return names.indexOf(other);
    });
    const known = Object.hasOwn(signals, signal) ? signals[signal] : undefined;
    if (known) return { name, signal, limits: settingsOf(known, limits, ['signals', name], mistakes), unless: quiets };
    const remedy = insteadOf(signal, Object.keys(signals));
    const own = is === name ? `, or name its signal, as "${name}: { is: … }"` : '';
    mistakes.push(`signals.${name}: there is no signal ${signal}: ${remedy}${own}`);
    return { name, signal, limits, unless: quiets };
  });
  for (const [i, { name, unless }] of uses.entries())
    if (!unless.includes(i) && quietedBy(uses, i).has(i))
      mistakes.push(`signals.${name}.unless: ${name} would quiet itself through others: remove one of them`);
  return uses;
};

/** The positions of all uses that may quiet this one, directly or through others. */
const quietedBy = (uses: readonly Use[], position: number): ReadonlySet<number> => {
  const found = new Set<number>();
  const add = (i: number) => {
    for (const other of uses[i]?.unless ?? [])
      if (!found.has(other)) {
        found.add(other);
        add(other);
      }
  };
  add(position);
  return found;
};

/** The enabled exemptions: all that the document does not disable. */
export const exemptionsOf = (
  d: PolicyDocument,
  { exemptions }: Vocabulary,
  mistakes: Mistakes,
): CompiledPolicy['exemptions'] => {
  for (const name of Object.keys(d.exemptions))
    if (!Object.hasOwn(exemptions, name))
      mistakes.push(`exemptions.${name}: there is no such exemption: ${insteadOf(name, Object.keys(exemptions))}`);
  return Object.entries(exemptions).flatMap(([name, exemption]) => {
    const written = d.exemptions[name] ?? true;
    if (written === false) return [];
    return [{ name, limits: settingsOf(exemption, written === true ? {} : written, ['exemptions', name], mistakes) }];
  });
};

/** Worst first; each alternative as positions in `uses`. */
export const statesOf = (d: PolicyDocument, uses: readonly Use[], mistakes: Mistakes): CompiledPolicy['states'] => {
  const names = uses.map(({ name }) => name);
  const positions = (line: string, at: string): Together =>
    together(line).map((name) => {
      if (!names.includes(name)) mistakes.push(`${at}: ${undeclared(name, names)}`);
      return names.indexOf(name);
    });
  return WORST_FIRST.map((state) => ({
    state,
    anyOf: d.states[state].map((line, i) => positions(line, `states.${state}[${i}]`)),
  }));
};

const undeclared = (name: string, declared: readonly string[]): string => {
  if (name === '') return 'a name is missing: write names of signals, with + between those that hold together';
  const near = nearest(name, declared);
  const remedy = near === null ? '' : `did you mean ${near}? Otherwise `;
  return `${name} is not declared: ${remedy}add it under signals, as "${name}: {}"`;
};

const settingsOf = (
  { limits }: Vocabulary['exemptions'][string],
  written: unknown,
  at: Path,
  mistakes: Mistakes,
): unknown => {
  const read = reading(limits, written);
  if ('value' in read) return read.value;
  mistakes.push(...read.mistakes.map((mistake) => spelled(mistake, at)));
  return written;
};
