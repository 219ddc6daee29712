import type { Step } from '@vigil/policy';
import { about, say } from '../drafts.ts';
import { act, type StepRules } from './step.ts';

type Alert = Extract<Step, { readonly step: 'alert' }>;

export const alert: StepRules<Alert> = {
  ruling: null,
  turn: () => act,
  act: ({ channel, severity }, { matter }) => [
    say(matter, {
      type: 'ALERT_REQUESTED',
      payload: {
        ...about(matter),
        channel,
        severity,
        title:
          matter.state === 'UNKNOWN' ? `${matter.agentId}: ${matter.planName}` : `${matter.agentId} is ${matter.state}`,
        text: matter.reason,
      },
    }),
  ],
};
