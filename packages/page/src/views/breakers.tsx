import { nextAttemptOf } from '@vigil/cli/describe';
import { ROUTES } from '../live/routes.ts';
import { breakerActions } from '../model/actions.ts';
import { readable } from '../model/text.ts';
import { clockTime, untilText } from '../model/time.ts';
import { useAnswer, useKnown, usePage } from '../parts/context.tsx';
import { Actions, Age, AgentLink, Loaded, Table, TaskLink } from '../parts/parts.tsx';

const TONES: Readonly<Record<string, string>> = {
  OPEN: 'state-failing',
  HALF_OPEN: 'state-degraded',
  CLOSED: 'state-healthy',
};

/** The breakers that have opened, those that are not closed first. */
export const Breakers = () => {
  const { live, now, offsetMinutes } = usePage();
  const { isNow, text, tone } = useKnown();
  /** A count would continue without Vigil. */
  const attemptText = (at: number | null): string =>
    isNow || at === null ? untilText(now, at) : clockTime(now, at, offsetMinutes);
  return (
    <Loaded answered={useAnswer(live, ROUTES.breakers)}>
      {({ breakers }) => (
        <Table
          label="Breakers"
          rows={breakers}
          keyOf={({ name, agentId, taskId }) => `${name}/${agentId}/${taskId}`}
          none="No breaker has opened."
          columns={[
            { title: 'Breaker', kind: 'text', of: ({ name }) => <span class="mono">{name}</span> },
            { title: 'Agent', kind: 'text', of: ({ agentId }) => <AgentLink id={agentId} /> },
            { title: 'Task', kind: 'text', of: ({ taskId }) => <TaskLink id={taskId} /> },
            {
              ...{ title: 'State', kind: 'text' },
              of: ({ state }) => (
                <span class={`state ${tone(TONES[state] ?? 'state-unknown')}`}>{text(readable(state))}</span>
              ),
            },
            { title: 'Since', kind: 'number', of: ({ since }) => <Age at={since} /> },
            { title: 'Failures', kind: 'number', of: ({ failures }) => failures },
            { title: 'Next attempt', kind: 'number', of: (breaker) => attemptText(nextAttemptOf(breaker, now)) },
            { title: 'Trips in 24 h', kind: 'number', of: ({ trips }) => trips },
            { title: 'Actions', kind: 'wide', of: (breaker) => <Actions of={breakerActions(breaker)} /> },
          ]}
        />
      )}
    </Loaded>
  );
};
