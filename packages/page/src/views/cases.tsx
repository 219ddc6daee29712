import { caseReason, describeEvent, evidenceName } from '@vigil/cli/describe';
import type { CaseRow } from '@vigil/read-model';
import { caseStandingText } from '@vigil/read-model/standing';
import { useMemo } from 'preact/hooks';
import type { Live } from '../live/live.ts';
import { ROUTES } from '../live/routes.ts';
import { caseActions } from '../model/actions.ts';
import type { State } from '../model/fleet.ts';
import { addressOf, addressWith } from '../model/places.ts';
import { orDash, readable } from '../model/text.ts';
import { clockTime, countdown } from '../model/time.ts';
import { useAnswer, useKnown, usePage } from '../parts/context.tsx';
import { Actions, Age, AgentLink, Clock, Facts, Loaded, StateMark, Table, TaskLink } from '../parts/parts.tsx';

/** The same words as `vigil case list`. */
const Standing = ({ of, otherwise }: { readonly of: CaseRow; readonly otherwise: string | undefined }) => {
  const { now, offsetMinutes } = usePage();
  const known = useKnown();
  const standing = caseStandingText(of, (at) => clockTime(now, at, offsetMinutes));
  const text = of.closedAt === null ? known.text(standing) : standing;
  return <span class={of.waiting ? 'asks' : otherwise}>{text}</span>;
};

/** Until the case acts, or asks again. */
const timeLeft = ({ waiting, escalationDeadlineAt, moreTimeUntil }: CaseRow, now: number): string => {
  const until = moreTimeUntil ?? (waiting ? escalationDeadlineAt : null);
  return until === null ? '-' : countdown(now, until).text;
};

/** The state of the finding, as words: the agent may have left it. A request by hand opens a case in any state. */
const FoundState = ({ of: { state, requestedBy } }: { readonly of: CaseRow }) => (
  <span class="dim">{requestedBy !== null && state === 'UNKNOWN' ? 'by hand' : state}</span>
);

const planText = (plan: unknown): string =>
  Array.isArray(plan)
    ? plan.map((step: { readonly step?: unknown }) => readable(String(step?.step ?? '?'))).join(' → ')
    : 'plan unknown';

type States = ReadonlyMap<string, State>;

/** The present states of all agents. */
const useStates = (live: Live): States => {
  const cells = useAnswer(live, ROUTES.cells).value;
  return useMemo(() => new Map(cells?.map(({ agentId, state }) => [agentId, state])), [cells]);
};

/** The present state of the agent of a case, where the fleet has it. */
const StateNow = ({ agentId, states }: { readonly agentId: string | null; readonly states: States }) => {
  const state = agentId === null ? undefined : states.get(agentId);
  return state === undefined ? <span class="dim">-</span> : <StateMark state={state} />;
};

export const Cases = () => {
  const { live, now } = usePage();
  const states = useStates(live);
  return (
    <Loaded answered={useAnswer(live, ROUTES.cases)}>
      {({ cases, next }) => (
        <Table
          label="Cases"
          rows={cases}
          keyOf={({ caseId }) => caseId}
          none="No cases."
          readOlder={next === null ? null : () => live.readMore(ROUTES.cases)}
          columns={[
            {
              ...{ title: 'Case', kind: 'text' },
              of: ({ caseId }) => (
                <a class="mono" href={addressOf('cases', caseId)}>
                  {caseId}
                </a>
              ),
            },
            {
              ...{ title: 'Agent, now', kind: 'text' },
              of: ({ agentId }) => (
                <>
                  <AgentLink id={agentId} /> <StateNow agentId={agentId} states={states} />
                </>
              ),
            },
            { title: 'Found', kind: 'text', of: (one) => <FoundState of={one} /> },
            {
              ...{ title: 'Stands', kind: 'text' },
              of: (one) => <Standing of={one} otherwise={undefined} />,
            },
            {
              ...{ title: 'Time left', kind: 'number' },
              of: (one) => timeLeft(one, now),
            },
            { title: 'Opened', kind: 'text', of: ({ openedAt }) => <Clock at={openedAt} /> },
            { title: 'Why', kind: 'wide', of: (one) => orDash(caseReason(one)) },
            { title: 'Answers', kind: 'buttons', of: (one) => <Actions of={caseActions(one)} /> },
          ]}
        />
      )}
    </Loaded>
  );
};

/** A finding begins before its case. */
const BEFORE_MS = 3_600_000;

const replayAddressOf = ({ agentId, openedAt, closedAt }: CaseRow): string =>
  addressWith('replay', null, {
    ...{ agent: agentId, since: openedAt - BEFORE_MS, until: closedAt },
  });

export const Case = ({ id }: { readonly id: string }) => {
  const { live } = usePage();
  const states = useStates(live);
  return (
    <Loaded answered={useAnswer(live, ROUTES.case(id))}>
      {(found) => (
        <>
          <div class="title">
            <h1 id="title" class="mono">
              {found.caseId}
            </h1>
            <Standing of={found} otherwise="dim" />
          </div>
          {found.waiting && <p class="question">{orDash(found.escalationReason)}</p>}
          <Actions of={caseActions(found)} />
          <p>
            <a href={replayAddressOf(found)}>Replay this</a>
          </p>
          <Facts
            of={[
              ['Agent', <AgentLink key="agent" id={found.agentId} />],
              ['Task', <TaskLink key="task" id={found.taskId} />],
              ['Found', <FoundState key="found" of={found} />],
              ['Agent now', <StateNow key="now" agentId={found.agentId} states={states} />],
              ['Opened', <Age key="opened" at={found.openedAt} />],
              ...(found.requestedBy === null ? [] : [['Asked by', orDash(caseReason(found))] as const]),
              ['Plan', `${found.planName}: ${planText(found.plan)}`],
              ['Policy', `${orDash(found.policyName)} ${found.policyHash?.slice(0, 8) ?? ''}`],
              ...found.evidence.map((evidence) => [evidenceName(evidence), evidence.words] as const),
            ]}
          />
          <section class="panel" aria-labelledby="trail">
            <h2 id="trail">What happened</h2>
            <ol class="story">
              {found.trail.map(({ eventId, at, type, payload }) => (
                <li key={eventId}>
                  <Clock at={at} /> <span>{describeEvent(type, payload)}</span>
                </li>
              ))}
            </ol>
          </section>
        </>
      )}
    </Loaded>
  );
};
