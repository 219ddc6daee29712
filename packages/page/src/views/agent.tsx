import { describeEvent } from '@vigil/cli/describe';
import type { AgentRow, Explanation } from '@vigil/read-model';
import { ROUTES } from '../live/routes.ts';
import { agentActions, caseActions, isHeld } from '../model/actions.ts';
import { byNearest, countedSignals, figureText, firesText, shareOf } from '../model/figures.ts';
import { addressOf, addressWith } from '../model/places.ts';
import { noOutputText } from '../model/terminal.ts';
import { attemptText, orDash, readable } from '../model/text.ts';
import { clockTime } from '../model/time.ts';
import { useAnswer, useKnown, usePage } from '../parts/context.tsx';
import { Actions, Age, Clock, Facts, Loaded, StateMark, Table, TaskLink } from '../parts/parts.tsx';
import { Ribbon } from '../parts/ribbon.tsx';
import { TerminalPanel } from '../parts/terminal.tsx';

/** `at`: a moment that the timeline marks, epoch milliseconds; null: none */
export const AgentView = ({ id, at }: { readonly id: string; readonly at: number | null }) => {
  const { live } = usePage();
  return (
    <Loaded answered={useAnswer(live, ROUTES.agent(id))}>
      {(explanation) => (
        <>
          <Head agent={explanation.agent} />
          <Waiting explanation={explanation} />
          <section class="panel" aria-labelledby="timeline">
            <h2 id="timeline">Timeline</h2>
            <Ribbon explanation={explanation} at={at} />
          </section>
          <TerminalPanel agent={explanation.agent} />
          <div class="halves">
            <Signals explanation={explanation} />
            <Output agent={explanation.agent} />
          </div>
          <Story explanation={explanation} />
        </>
      )}
    </Loaded>
  );
};

const Head = ({ agent }: { readonly agent: AgentRow }) => {
  const { now } = usePage();
  const { isNow, until, text } = useKnown();
  return (
    <>
      <div class="title">
        <h1 id="title" class="mono">
          {agent.agentId}
        </h1>
        <StateMark state={agent.state} />
        <span class="dim">
          {isNow ? 'for ' : 'at '}
          {isNow ? <Age at={agent.since} /> : <Clock at={until} />}
        </span>
        {agent.exemption !== null && <span class="tag">{text(`exempt: ${readable(agent.exemption)}`)}</span>}
        {isHeld(now, agent) && (
          <span class="tag">
            {text('held')} by {orDash(agent.heldBy)}: {orDash(agent.heldWhy)}
          </span>
        )}
      </div>
      {agent.reason !== null && <p class="question">{agent.reason}</p>}
      <Actions of={agentActions(agent, now)} />
      <p>
        <a href={addressWith('replay', null, { agent: agent.agentId, since: agent.instanceSince })}>Replay this</a>
      </p>
      <Facts
        of={[
          ['Task', <TaskLink key="task" id={agent.taskId} />],
          ['Attempt', attemptText(agent)],
          ['Phase', [...new Set([agent.phase, agent.progress])].map(orDash).join(', ')],
          ['Last heartbeat', <Age key="heartbeat" at={agent.lastHeartbeatAt} />],
          ['Host', orDash(agent.host)],
          ['Runtime', orDash(agent.runtimeId)],
          ['Client', [agent.client, agent.model].filter((part) => part !== null).join(', ') || '-'],
          ['Tokens', agent.tokens === null ? '-' : figureText(agent.tokens, false)],
          [
            'Policy',
            agent.policyName === null ? (
              '-'
            ) : (
              <a key="policy" href={addressOf('policies', agent.policyName)}>
                {agent.policyName}
              </a>
            ),
          ],
          [
            'Labels',
            Object.entries(agent.labels)
              .map(([name, value]) => `${name}=${value}`)
              .join(', ') || '-',
          ],
        ]}
      />
    </>
  );
};

/** The question of its open case, with the answers. */
const Waiting = ({ explanation: { cases, agent } }: { readonly explanation: Explanation }) => {
  const { isNow } = useKnown();
  const open = cases.find(({ caseId, waiting }) => caseId === agent.caseId && waiting);
  if (open === undefined) return null;
  return (
    <section class="panel asking" aria-labelledby="asking">
      <h2 id="asking">{isNow ? 'Waits' : 'Was waiting'} for a decision</h2>
      <p>
        {orDash(open.escalationReason)}{' '}
        <a class="mono" href={addressOf('cases', open.caseId)}>
          {open.caseId}
        </a>
      </p>
      <Actions of={caseActions(open)} />
    </section>
  );
};

/** The table of what the strips show, and of the signals without a figure. */
const Signals = ({ explanation: { signals, agent } }: { readonly explanation: Explanation }) => {
  const { now, offsetMinutes } = usePage();
  const known = useKnown();
  const timeText = (at: number) => clockTime(now, at, offsetMinutes);
  if (signals === null || signals.length === 0)
    return (
      <section class="panel" aria-labelledby="signals">
        <h2 id="signals">Signals</h2>
        <p class="none">The evaluator's figures are not available.</p>
      </section>
    );
  const ordered = byNearest(countedSignals(signals, agent));
  if (ordered.length === 0)
    return (
      <section class="panel" aria-labelledby="signals">
        <h2 id="signals">Signals</h2>
        <p class="none">The agent has ended. No signal fires.</p>
      </section>
    );
  return (
    <section class="panel" aria-labelledby="signals">
      <h2 id="signals">Signals</h2>
      <Table
        label="Signals"
        rows={ordered}
        keyOf={({ signal }) => signal}
        none="No signals."
        columns={[
          { title: 'Signal', kind: 'text', of: ({ signal }) => <span class="mono">{signal}</span> },
          {
            ...{ title: 'Of its limit', kind: 'text' },
            of: (one) => {
              const share = shareOf(one);
              if (share === null) return '-';
              return (
                <span class={`share ${one.fires && known.isNow ? 'fires' : ''}`}>
                  <span class="bar" style={{ width: `${share * 0.6}px` }} />
                  {share} %
                </span>
              );
            },
          },
          { title: 'Figure', kind: 'wide', of: ({ words }) => words },
          {
            title: 'Fires',
            kind: 'line',
            of: (one) => (
              <span class={one.fires && known.isNow ? 'bad' : 'dim'}>{firesText(one, known, timeText)}</span>
            ),
          },
        ]}
      />
    </section>
  );
};

const Output = ({ agent }: { readonly agent: AgentRow }) => {
  const lines = agent.exitLastOutput.length > 0 ? agent.exitLastOutput : agent.tail;
  return (
    <section class="panel" aria-labelledby="output">
      <h2 id="output">Last output</h2>
      {lines.length === 0 ? (
        <p class="none">{noOutputText(agent)}</p>
      ) : (
        <>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it */}
          <pre class="output" tabIndex={0}>
            {lines.join('\n')}
          </pre>
          <p class="dim">
            at <Clock at={agent.lastOutputAt} />, by the agent's clock
          </p>
        </>
      )}
    </section>
  );
};

const Story = ({ explanation: { story } }: { readonly explanation: Explanation }) => (
  <section class="panel" aria-labelledby="story">
    <h2 id="story">What happened</h2>
    {story.length === 0 ? (
      <p class="none">Nothing yet.</p>
    ) : (
      <ol class="story">
        {story.toReversed().map(({ eventId, at, type, payload }) => (
          <li key={eventId}>
            <Clock at={at} /> <span>{describeEvent(type, payload)}</span>
          </li>
        ))}
      </ol>
    )}
  </section>
);
