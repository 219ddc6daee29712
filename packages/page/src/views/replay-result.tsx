import { describeEvent, outcomeText } from '@vigil/cli/describe';
import type {
  FiguresResult,
  Replay,
  ReplayComparison,
  ReplayDifference,
  ReplayedAgent,
  ReplayResult as Result,
  VerifyResult,
  WhatIfResult,
} from '@vigil/read-model';
import { useState } from 'preact/hooks';
import { figureText } from '../model/figures.ts';
import { addressWith } from '../model/places.ts';
import { figuresText, leftOutLines, verifiedText, whatIfText } from '../model/replays.ts';
import { Clock, Facts, Table } from '../parts/parts.tsx';

/** Leads to the agent with the moment marked. */
const AgentAt = ({ id, at }: { readonly id: string; readonly at: number }) => (
  <a class="mono" href={addressWith('fleet', id, { at })}>
    {id}
  </a>
);

const LeftOut = ({ of }: { readonly of: VerifyResult | WhatIfResult }) => (
  <>
    {leftOutLines(of).map((line) => (
      <p key={line} class="dim">
        {line}
      </p>
    ))}
  </>
);

const More = ({ count }: { readonly count: number }) =>
  count > 0 ? <p class="dim">{count} more agents: replay one of them, or a shorter span.</p> : null;

const eventText = (event: ReplayDifference['recorded']): string =>
  event === null ? 'nothing' : describeEvent(event.type, event.payload);

const Verified = ({ result }: { readonly result: VerifyResult }) => {
  const { observations, decisions, agents, differentCount, differences } = result;
  return (
    <>
      <p class="question" role="status">
        {verifiedText(result)}
      </p>
      <LeftOut of={result} />
      <Facts
        of={[
          ['Observations', observations.toLocaleString('en-US')],
          ['Decisions as recorded', decisions.toLocaleString('en-US')],
          ['Agents', agents.toLocaleString('en-US')],
          ['Agents that differ', differentCount.toLocaleString('en-US')],
        ]}
      />
      {differences.length > 0 && (
        <section class="panel" aria-labelledby="differences">
          <h2 id="differences">The first difference of each agent</h2>
          <Table
            label="Differences"
            rows={differences}
            keyOf={({ agent }) => agent}
            none=""
            columns={[
              { title: 'Agent', kind: 'text', of: ({ agent, at }) => <AgentAt id={agent} at={at} /> },
              { title: 'Time', kind: 'line', of: ({ at }) => <Clock at={at} /> },
              { title: 'Recorded', kind: 'wide', of: ({ recorded }) => eventText(recorded) },
              { title: 'Now', kind: 'wide', of: ({ decided }) => eventText(decided) },
              {
                ...{ title: 'Reason', kind: 'wide' },
                of: ({ reason, position }) => (
                  <>
                    {reason}
                    {position !== null && <p class="dim mono">{position}</p>}
                  </>
                ),
              },
            ]}
          />
          <More count={differentCount - differences.length} />
        </section>
      )}
    </>
  );
};

const COUNTS = [
  ['Agents STUCK or FAILING', 'stuck'],
  ['Agents DEGRADED', 'degraded'],
  ['Plans begun', 'plans'],
] as const;

/** Agents that are shown at first. */
const FIRST_AGENTS = 20;

const WhatIf = ({ result, policy }: { readonly result: WhatIfResult; readonly policy: string }) => {
  const [most, setMost] = useState(FIRST_AGENTS);
  const { recorded, otherwise, different, differentCount } = result;
  return (
    <>
      <p class="question" role="status">
        {whatIfText(result, policy)}
      </p>
      <LeftOut of={result} />
      <section class="panel" aria-labelledby="counts">
        <h2 id="counts">Up to the first different act</h2>
        <Table
          label="Counts"
          rows={COUNTS}
          keyOf={([title]) => title}
          none=""
          columns={[
            { title: 'What', kind: 'text', of: ([title]) => title },
            { title: 'Recorded', kind: 'number', of: ([, name]) => recorded[name] },
            { title: `Under ${policy}`, kind: 'number', of: ([, name]) => otherwise[name] },
          ]}
        />
      </section>
      {different.slice(0, most).map((one) => (
        <AgentOutcomes key={one.agent} of={one} policy={policy} />
      ))}
      {different.length > most && (
        <button type="button" class="button more" onClick={() => setMost(different.length)}>
          {different.length - most} more
        </button>
      )}
      <More count={differentCount - different.length} />
    </>
  );
};

const sideText = (outcome: ReplayComparison['recorded']): string => (outcome === null ? '-' : outcomeText(outcome));

const AgentOutcomes = ({ of, policy }: { readonly of: ReplayedAgent; readonly policy: string }) => {
  const { agent, outcomes, leftOut, differsFrom } = of;
  const id = `outcomes-${agent}`;
  const first = outcomes.find(({ isSame }) => !isSame);
  const isAct = (one: ReplayComparison) => (one.recorded ?? one.otherwise)?.kind !== 'state';
  const act = outcomes.find((one) => !one.isSame && isAct(one));
  return (
    <section class="panel" aria-labelledby={id}>
      <h2 id={id} class="agent-title">
        <AgentAt id={agent} at={differsFrom ?? first?.at ?? 0} />
      </h2>
      {leftOut.before > 0 && <p class="dim">{leftOut.before} outcomes before these are the same.</p>}
      <Table
        label={`Outcomes of ${agent}`}
        rows={outcomes.map((one, place) => ({ ...one, place }))}
        keyOf={({ place }) => String(place)}
        none=""
        columns={[
          { title: 'Time', kind: 'line', of: ({ at }) => <Clock at={at} /> },
          {
            ...{ title: 'Recorded', kind: 'wide' },
            of: (one) => <span class={one.isSame ? 'dim' : undefined}>{sideText(one.recorded)}</span>,
          },
          {
            ...{ title: `Under ${policy}`, kind: 'wide' },
            of: (one) => <span class={one.isSame ? 'dim' : undefined}>{sideText(one.otherwise)}</span>,
          },
          {
            ...{ title: 'Compared', kind: 'text' },
            of: (one) => {
              if (one.isSame) return <span class="dim">the same</span>;
              return outcomes[one.place] === act ? <strong class="bad">first different act</strong> : 'differs';
            },
          },
        ]}
      />
      {leftOut.after > 0 && <p class="dim">{leftOut.after} outcomes after these are left out.</p>}
      <p class="dim">
        {differsFrom === null
          ? 'No other act: what follows is the same in both.'
          : 'The comparison ends here. With another act the agent would have reported something else.'}
      </p>
    </section>
  );
};

const Figures = ({ result }: { readonly result: FiguresResult }) => (
  <>
    <p class="question" role="status">
      {figuresText(result)}
    </p>
    <Table
      label="Signals in this span"
      rows={result.signals.filter(({ values }) => values.some((value) => value !== null))}
      keyOf={({ signal }) => signal}
      none="No signal had a figure."
      columns={[
        { title: 'Signal', kind: 'text', of: ({ signal }) => <span class="mono">{signal}</span> },
        {
          ...{ title: 'Largest figure drawn', kind: 'text' },
          of: ({ values, isDuration }) => figureText(Math.max(...values.map((value) => value ?? 0)), isDuration),
        },
        { title: 'Limit', kind: 'text', of: ({ limit, isDuration }) => figureText(limit, isDuration) },
      ]}
    />
  </>
);

export const ReplayResult = ({ replay, result }: { readonly replay: Replay; readonly result: Result }) => {
  switch (result.kind) {
    case 'verify':
      return <Verified result={result} />;
    case 'what_if':
      return <WhatIf result={result} policy={replay.policyName ?? 'the other policy'} />;
    case 'figures':
      return <Figures result={result} />;
  }
};
