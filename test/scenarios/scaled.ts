import { readFileSync } from 'node:fs';
import path from 'node:path';
import { VOCABULARY } from '@vigil/health';
import { importPolicy } from '@vigil/importers';
import { PRESETS, parseDuration, parseYaml } from '@vigil/policy';

type Document = Readonly<Record<string, unknown>>;

/** Durations that are not part of a story. They are not scaled, because a busy machine must be able to meet them. */
const leases = { warrant: { renew: '2s', void: '30s' }, recovery: { spawn_deadline: '40s', stable: '60s' } };

const divided = (value: unknown, factor: number): unknown => {
  if (Array.isArray(value)) return value.map((one) => divided(one, factor));
  if (value !== null && typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, divided(one, factor)]));
  const ms = typeof value === 'string' ? parseDuration(value) : null;
  return ms === null ? value : `${Math.round(ms / factor)}ms`;
};

/** A preset with every duration divided by a factor. `more`: the additions of its user, by section. */
export const scaled = (preset: string, factor: number, more: Document = {}): string => {
  const file = path.join(PRESETS, `${preset}.yaml`);
  const document = divided(parseYaml(readFileSync(file, 'utf8'), preset), factor) as Document;
  const whole = withSections(withSections(document, leases), more);
  return JSON.stringify(whole, null, 2);
};

export const named = (policy: string, name: string): string => JSON.stringify({ ...JSON.parse(policy), policy: name });

/** The plans of CODITECT's own file, with these of its settings. */
export const asInItsFile = (policy: string, name: string, health: object): string => {
  const { yaml } = importPolicy('botbox', JSON.stringify({ agents: { health } }), '.botbox.json', VOCABULARY);
  const { plans } = parseYaml(yaml, name) as Document;
  return JSON.stringify({ ...JSON.parse(policy), policy: name, plans });
};

/** The same with another name and a longer escalation, so that people can decide in time on a busy machine. */
export const decidedByPeople = (policy: string, name: string, timeout: string): string => {
  const document = JSON.parse(policy) as { plans: { do: { escalate?: object }[] }[] };
  const options = ['allow_more_time', 'force_handoff', 'terminate_and_recover', 'pardon'];
  const patient = (step: { escalate?: object }) =>
    step.escalate ? { escalate: { ...step.escalate, timeout, options } } : step;
  const plans = document.plans.map((plan) => ({ ...plan, do: plan.do.map(patient) }));
  return JSON.stringify({ ...document, policy: name, plans });
};

const withSections = (policy: Document, more: Document): Document => ({
  ...policy,
  ...Object.fromEntries(
    Object.entries(more).map(([name, section]) => [
      name,
      typeof section === 'object' ? { ...Object(policy[name]), ...section } : section,
    ]),
  ),
});
