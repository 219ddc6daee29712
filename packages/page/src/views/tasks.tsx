import type { TaskRow } from '@vigil/read-model';
import { byName } from '@vigil/read-model/names';
import { taskReason, waitsForPerson } from '@vigil/read-model/standing';
import { useState } from 'preact/hooks';
import { ROUTES } from '../live/routes.ts';
import { taskActions } from '../model/actions.ts';
import type { Known } from '../model/knowledge.ts';
import { orDash, readable } from '../model/text.ts';
import { useAnswer, useKnown, usePage } from '../parts/context.tsx';
import { Actions, AgentLink, Clock, Facts, Loaded, StateMark, Table, TaskLink } from '../parts/parts.tsx';

/** What waits for a person first, then what is recovered, then the rest by name. */
const urgency = (task: TaskRow): number => {
  if (waitsForPerson(task)) return 0;
  return task.recovery === null ? 2 : 1;
};

export const Tasks = () => {
  const { live } = usePage();
  const [isReview, setIsReview] = useState(false);
  return (
    <Loaded answered={useAnswer(live, ROUTES.tasks)}>
      {({ tasks }) => (
        <>
          <div class="controls">
            <label class="check">
              <input
                type="checkbox"
                checked={isReview}
                onChange={(event) => setIsReview(event.currentTarget.checked)}
              />
              Waits for a person
            </label>
            <span class="dim shown" role="status">
              {tasks.filter(waitsForPerson).length} of {tasks.length} tasks wait for a person
            </span>
          </div>
          <TaskTable tasks={isReview ? tasks.filter(waitsForPerson) : tasks} />
        </>
      )}
    </Loaded>
  );
};

const recoveryText = (recovery: TaskRow['recovery'], text: Known['text']): string =>
  recovery === null ? readable(recovery) : text(readable(recovery));

const TaskTable = ({ tasks }: { readonly tasks: readonly TaskRow[] }) => {
  const { text } = useKnown();
  return (
    <Table
      label="Tasks"
      rows={tasks.toSorted((one, other) => urgency(one) - urgency(other) || byName(one.taskId, other.taskId))}
      keyOf={({ taskId }) => taskId}
      none="No tasks."
      columns={[
        { title: 'Task', kind: 'text', of: ({ taskId }) => <TaskLink id={taskId} /> },
        // Before the wide columns, so that it is on a narrow screen.
        { title: 'Answers', kind: 'buttons', of: (task) => <Actions of={taskActions(task)} /> },
        { title: 'Assignee', kind: 'text', of: ({ agentId }) => <AgentLink id={agentId} /> },
        { title: 'State', kind: 'text', of: ({ state }) => (state === null ? '-' : <StateMark state={state} />) },
        { title: 'Attempt', kind: 'number', of: ({ attempt }) => orDash(attempt) },
        {
          ...{ title: 'Checkpoints', kind: 'text' },
          // Agents name their checkpoints, at any length.
          of: ({ checkpoints, lastCheckpoint }) =>
            lastCheckpoint === null ? (
              checkpoints
            ) : (
              <span class="mono">
                {checkpoints}, last {lastCheckpoint}
              </span>
            ),
        },
        { title: 'Recovery', kind: 'text', of: ({ recovery }) => recoveryText(recovery, text) },
        { title: 'Why', kind: 'wide', of: (task) => orDash(taskReason(task)) },
      ]}
    />
  );
};

export const Task = ({ id }: { readonly id: string }) => {
  const { live } = usePage();
  const { text } = useKnown();
  return (
    <Loaded answered={useAnswer(live, ROUTES.task(id))}>
      {(task) => (
        <>
          <div class="title">
            <h1 id="title" class="mono">
              {task.taskId}
            </h1>
            {task.state !== null && <StateMark state={task.state} />}
          </div>
          {task.blockedReason !== null && (
            <p class="question">
              {text('BLOCKED')},{' '}
              {task.blockedAlertId === null ? 'a person has acknowledged it' : 'it waits for a person'}:{' '}
              {task.blockedReason}
            </p>
          )}
          {task.recoveryReason !== null && <p class="question">{task.recoveryReason}</p>}
          <Actions of={taskActions(task)} />
          <Facts
            of={[
              ['Assignee', <AgentLink key="agent" id={task.agentId} />],
              ['Attempt', orDash(task.attempt)],
              ['Recovery', recoveryText(task.recovery, text)],
              ['Ended', orDash(task.endReason)],
            ]}
          />
          <section class="panel" aria-labelledby="attempts">
            <h2 id="attempts">Recoveries</h2>
            <Table
              label="Recoveries"
              rows={task.recoveries}
              keyOf={({ attempt, newAgentId }) => `${attempt}/${newAgentId}`}
              none="No attempt to recover it."
              columns={[
                { title: 'Attempt', kind: 'number', of: ({ attempt, maxAttempts }) => `${attempt} of ${maxAttempts}` },
                { title: 'Agent', kind: 'text', of: ({ newAgentId }) => <AgentLink id={newAgentId} /> },
                { title: 'From', kind: 'text', of: ({ fromCheckpoint }) => <span class="mono">{fromCheckpoint}</span> },
                { title: 'On', kind: 'text', of: ({ runtimeId }) => runtimeId },
                { title: 'Began', kind: 'text', of: ({ initiatedAt }) => <Clock at={initiatedAt} /> },
                {
                  title: 'Probation passed',
                  kind: 'text',
                  of: ({ probationPassedAt }) => <Clock at={probationPassedAt} />,
                },
                { title: 'Failed', kind: 'wide', of: ({ failedReason }) => orDash(failedReason) },
              ]}
            />
          </section>
          <section class="panel" aria-labelledby="chain">
            <h2 id="chain">Checkpoints</h2>
            <Table
              label="Checkpoints"
              rows={task.chain}
              keyOf={({ checkpointId }) => checkpointId}
              none="No checkpoint: a recovery would start the task again."
              columns={[
                {
                  title: 'Checkpoint',
                  kind: 'text',
                  of: ({ checkpointId }) => <span class="mono">{checkpointId}</span>,
                },
                { title: 'Written', kind: 'text', of: ({ writtenAt }) => <Clock at={writtenAt} /> },
                { title: 'Agent', kind: 'text', of: ({ agentId }) => <AgentLink id={agentId} /> },
                {
                  ...{ title: 'Valid', kind: 'text' },
                  of: ({ valid }) => (valid === null ? 'not checked yet' : valid ? 'valid' : 'invalid'),
                },
                { title: 'Remaining work', kind: 'wide', of: ({ remainingWork }) => remainingWork.join('; ') || '-' },
              ]}
            />
          </section>
        </>
      )}
    </Loaded>
  );
};
