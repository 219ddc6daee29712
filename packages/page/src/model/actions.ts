import type { AgentRow, AlertRow, BreakerRow, CaseRow, FleetRow, SilenceRow, TaskRow } from '@vigil/read-model';
import { caseDecisionText, reviewText } from '@vigil/read-model/decisions';
import { matchersText } from '@vigil/read-model/matchers';
import { byName } from '@vigil/read-model/names';
import { canBeAcknowledged } from '@vigil/read-model/standing';
import type { Action, Command } from './commands.ts';
import { sentenceOf } from './text.ts';

const action = (key: string, label: string, text: string, command: Command): Action => ({
  ...{ key, label, text, command, isDangerous: false, fields: [] },
});

/** A hold is over when its time has run out: no event reports that. */
export const isHeld = (now: number, { held, heldUntil }: Pick<AgentRow, 'held' | 'heldUntil'>): boolean =>
  held && (heldUntil === null || heldUntil > now);

type Acted = Pick<AgentRow, 'agentId' | 'state' | 'held' | 'heldUntil' | 'taskId' | 'unhealthy'>;

/** What a person may do to an agent. An ended one can be recovered only, while nothing else continues its task. More time is a decision of its case. */
export const agentActions = (agent: Acted, now: number): readonly Action[] => {
  const { agentId, state, taskId } = agent;
  const step = (name: string, label: string, text: string): Action =>
    action(`${name}/${agentId}`, label, text, { kind: 'request_step', agentId, step: name });
  const recover: Action = {
    ...step('terminate_and_recover', 'Terminate and recover', `Ends ${agentId}; another agent continues its task.`),
    isDangerous: true,
  };
  if (state === 'TERMINATED') return taskId === null || !agent.unhealthy ? [] : [recover];
  const hold: Action = isHeld(now, agent)
    ? action(`release/${agentId}`, 'Release', `Ends the hold: plans act on ${agentId} again.`, {
        kind: 'release',
        agentId,
      })
    : {
        ...action(`hold/${agentId}`, 'Hold', `No plan acts on ${agentId} while it is held.`, { kind: 'hold', agentId }),
        fields: ['forMs'],
      };
  return [
    {
      ...step('nudge', 'Nudge', `Sends ${agentId} your text, or the text of its policy if you write none.`),
      fields: ['message'],
    },
    hold,
    step(
      'handoff',
      'Hand off',
      `Asks ${agentId} to write a checkpoint and to stop. No other agent continues its task.`,
    ),
    {
      ...step(
        'restart',
        'Restart',
        `Ends ${agentId}, and starts its command again where it ran. It does not continue from a checkpoint.`,
      ),
      isDangerous: true,
    },
    recover,
    { ...step('terminate', 'Terminate', `Ends ${agentId}. Nothing continues its task.`), isDangerous: true },
  ];
};

/** The decisions that a waiting case offers. */
export const caseActions = ({
  caseId,
  agentId,
  waiting,
  escalationAt,
  escalationOptions,
}: CaseRow): readonly Action[] =>
  waiting
    ? escalationOptions.map((decision) => ({
        ...action(
          `case/${caseId}/${decision}`,
          sentenceOf(decision),
          caseDecisionText(decision, agentId) ?? `${sentenceOf(decision)}: the answer to the case of ${agentId}.`,
          { kind: 'decide_case', caseId, decision, ...(escalationAt !== null && { askedAt: escalationAt }) },
        ),
        isDangerous: decision === 'terminate_and_recover',
        fields: decision === 'allow_more_time' ? ['forMs'] : [],
      }))
    : [];

type ActedTask = Pick<TaskRow, 'taskId' | 'recovery' | 'blockedAlertId'>;

/** The decisions about a task in review, or the acknowledgement of one that is blocked: the answers of its item of the inbox. */
export const taskActions = ({ taskId, recovery, blockedAlertId }: ActedTask): readonly Action[] =>
  recovery !== 'REVIEW_REQUIRED'
    ? acknowledgement(taskId, blockedAlertId)
    : (
        [
          ['retry', 'Retry'],
          ['reset', 'Reset'],
          ['abandon', 'Abandon'],
        ] as const
      ).map(([decision, label]) => ({
        ...action(`task/${taskId}/${decision}`, label, reviewText(decision, taskId) ?? `${label} ${taskId}.`, {
          kind: 'review_task',
          taskId,
          decision,
        }),
        isDangerous: decision === 'abandon',
      }));

const acknowledgement = (taskId: string, alertId: string | null): readonly Action[] =>
  alertId === null
    ? []
    : [
        action(
          `task/${taskId}/acknowledge`,
          'Acknowledge',
          `The alert of ${taskId} is not repeated. It stays blocked until an agent works on it.`,
          { kind: 'acknowledge', alertId },
        ),
      ];

/** An open breaker of an agent can be closed by hand. The task's breaker is closed by a review. */
export const breakerActions = ({ agentId, name, state }: BreakerRow): readonly Action[] =>
  agentId === null || state === 'CLOSED'
    ? []
    : [
        action(`breaker/${agentId}/${name}`, 'Reset', `Closes the breaker ${name} of ${agentId}.`, {
          ...{ kind: 'reset_breaker', agentId, name },
        }),
      ];

export const alertActions = (alert: AlertRow): readonly Action[] => {
  const { alertId, title, resolvedAt, agentId, taskId } = alert;
  if (resolvedAt !== null) return [];
  const about = title ?? alertId;
  const matcher = agentId !== null ? { field: 'agentId', value: agentId } : { field: 'taskId', value: taskId ?? '' };
  return [
    ...(canBeAcknowledged(alert)
      ? [action(`ack/${alertId}`, 'Acknowledge', `"${about}" is not repeated.`, { kind: 'acknowledge', alertId })]
      : []),
    action(`resolve/${alertId}`, 'Resolve', `"${about}" is over.`, { kind: 'resolve_alert', alertId }),
    ...(matcher.value === ''
      ? []
      : [
          {
            ...action(`silence/${alertId}`, 'Silence', `No channel gets alerts of ${matcher.value} for this time.`, {
              ...{ kind: 'silence', matchers: [matcher], forMs: 3_600_000 },
            }),
            fields: ['forMs'] as const,
          },
        ]),
  ];
};

export const silenceActions = (silence: SilenceRow): readonly Action[] => {
  const { silenceId } = silence;
  const text = `Channels get alerts of ${matchersText(silence)} again.`;
  return [action(`end-silence/${silenceId}`, 'End silence', text, { kind: 'end_silence', silenceId })];
};

/** A test of each channel that has delivered an alert. */
export const channelActions = (alerts: readonly AlertRow[]): readonly Action[] => {
  const channels = new Set(alerts.flatMap(({ deliveries }) => deliveries.map(({ sink }) => sink)));
  return [...channels].sort(byName).map((channel) =>
    action(`test/${channel}`, `Test ${channel}`, `Sends a test message to ${channel}.`, {
      kind: 'test_channel',
      channel,
    }),
  );
};

/** Halt, brake and dry run. */
export const fleetActions = ({ halted, braked, dryRun }: FleetRow): readonly Action[] => [
  ...(braked
    ? [action('brake/lift', 'Lift the brake', 'Terminations and recoveries happen again.', { kind: 'lift_brake' })]
    : []),
  halted
    ? action('fleet/resume', 'Resume', 'Plans act on the fleet again.', { kind: 'resume' })
    : {
        ...action('fleet/halt', 'Halt', 'No plan acts on any agent until a person resumes the fleet.', {
          kind: 'halt',
        }),
        isDangerous: true,
      },
  action(
    'fleet/dry-run',
    dryRun ? 'End dry run' : 'Dry run',
    dryRun ? 'Steps happen again.' : 'Steps only report what they would do.',
    { kind: 'dry_run', on: !dryRun },
  ),
];
