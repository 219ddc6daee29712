import { type Clock, NEVER } from '@vigil/stream';
import { forgetAt } from './forgetting.ts';
import { lapsesAt } from './freshness.ts';
import { type Matter, type Open, standsUntil } from './open.ts';
import type { CaseState } from './state.ts';
import { rulesOf } from './steps/steps.ts';

export const dueAt = (state: CaseState, { now }: Clock): number => {
  const { situation } = state;
  switch (situation.at) {
    case 'quiet':
      return forgetAt(state);
    case 'unconfirmed':
      return NEVER;
    case 'asking':
      return voidFrom(situation.matter);
    case 'open':
      return caseDue(situation.open, now);
  }
};

const voidFrom = ({ voidAt, ended }: Matter): number => (ended ? NEVER : (voidAt ?? NEVER));

const caseDue = (open: Open, now: number): number =>
  open.work.at === 'terminating'
    ? open.work.until
    : Math.min(open.death || open.ending ? NEVER : voidFrom(open.matter), stepDue(open, now));

const stepDue = (open: Open, now: number): number => {
  const { work } = open;
  switch (work.at) {
    case 'asked':
      return lapsesAt(open) ?? NEVER;
    case 'terminating':
      return NEVER;
    case 'escalated':
      return work.until ?? NEVER;
    case 'turn':
      // More time is for the steps: whoever is held is set going again all the same.
      return Math.min(Math.max(turnDue(open, now), standsUntil(open)), open.paused?.until ?? NEVER);
  }
};

const turnDue = (open: Open, now: number): number => {
  const step = open.matter.steps[open.index];
  const wants = step && rulesOf(step).turn(step, open, now);
  return wants?.want === 'wait' ? wants.until : now;
};
