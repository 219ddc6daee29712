import { utcTime } from '@vigil/policy';
import { SERVICE_STANDING } from '../alert/routing.ts';
import { type Noticed, raise, resolve } from '../notices/notice.ts';

/**
 * A service, or its time, as this process sees it. `badSince`: on the same clock as `now`. `reported`: what was written
 * last; nothing after a start, because what was written before is unknown.
 */
type Subject = {
  readonly badSince: number | null;
  readonly why: string;
  readonly reported: 'nothing' | 'standing' | 'well';
};

/** By the name of the service. */
export type Standing = ReadonlyMap<string, Subject>;

/** A part that is away for so long is reported; a restart takes less. Milliseconds. */
export const GRACE_MS = 60_000;

/** What was found about each service now; null: it is well. A service that is left out keeps its state. */
export type Findings = Readonly<Record<string, string | null>>;

export const found = (before: Standing, findings: Findings, now: number): Standing => {
  const after = new Map(before);
  for (const [service, why] of Object.entries(findings)) {
    const known = before.get(service) ?? { badSince: null, why: '', reported: 'nothing' };
    after.set(
      service,
      why === null ? { ...known, badSince: null, why: '' } : { ...known, badSince: known.badSince ?? now, why },
    );
  }
  return after;
};

/** It has been away for longer than a restart takes. */
const isStill = ({ badSince }: Subject, now: number): boolean => badSince !== null && now - badSince >= GRACE_MS;

export const isAnyStill = (standing: Standing, now: number): boolean =>
  [...standing.values()].some((subject) => isStill(subject, now));

/** Since when each service is away that is, epoch milliseconds. */
export const awayIn = (standing: Standing): Readonly<Record<string, number>> =>
  Object.fromEntries(
    [...standing].flatMap(([service, { badSince }]) => (badSince === null ? [] : [[service, badSince]])),
  );

/** A change that people should know: each is written once, and again until `written`. */
export type Flip = { readonly service: string; readonly to: 'standing' | 'well'; readonly notice: Noticed };

export const flipsOf = (standing: Standing, now: number): readonly Flip[] =>
  [...standing].flatMap(([service, subject]): readonly Flip[] => {
    const { badSince, why, reported } = subject;
    const about = { agentId: null, taskId: null, labels: { service }, of: service };
    if (badSince === null)
      return reported === 'well'
        ? []
        : [{ service, to: 'well', notice: resolve(SERVICE_STANDING, about, `${service} works again`) }];
    if (reported === 'standing' || !isStill(subject, now)) return [];
    const since = utcTime(badSince);
    const title = `${service} stands still since ${since}`;
    const text = `${why}. Until it works again, Vigil does not see or do all that it should: see \`vigil doctor\` and the log of ${service}`;
    return [{ service, to: 'standing', notice: raise(SERVICE_STANDING, about, { severity: 'critical', title, text }) }];
  });

export const written = (standing: Standing, { service, to }: Flip): Standing => {
  const subject = standing.get(service);
  return subject === undefined ? standing : new Map(standing).set(service, { ...subject, reported: to });
};
