import type { Step } from '@vigil/policy';
import { about, caseEvent } from '../drafts.ts';
import { act, type StepRules } from './step.ts';

type Alert = Extract<Step, { readonly step: 'alert' }>;

export const alert: StepRules<Alert> = {
  ruling: null,
  decideStep: () => act,
  act: ({ channel, severity }, { caseContext }) => [
    caseEvent(caseContext, {
      type: 'ALERT_REQUESTED',
      payload: {
        ...about(caseContext),
        channel,
        severity,
        title:
          caseContext.state === 'UNKNOWN'
            ? `${caseContext.agentId}: ${caseContext.planName}`
            : `${caseContext.agentId} is ${caseContext.state}`,
        text: caseContext.reason,
      },
    }),
  ],
};
