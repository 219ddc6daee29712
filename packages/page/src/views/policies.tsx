import { type Difference, differences } from '@vigil/policy';
import type { PolicyRow } from '@vigil/read-model';
import { byName } from '@vigil/read-model/names';
import { useState } from 'preact/hooks';
import { ROUTES } from '../live/routes.ts';
import { addressOf } from '../model/places.ts';
import { orDash } from '../model/text.ts';
import { useAnswer, useKnown, usePage } from '../parts/context.tsx';
import { Clock, Facts, Loaded, Table } from '../parts/parts.tsx';

const byPolicy = (one: PolicyRow, other: PolicyRow): number => byName(one.name, other.name);

export const Policies = () => {
  const { live } = usePage();
  const { text } = useKnown();
  return (
    <Loaded answered={useAnswer(live, ROUTES.policies)}>
      {({ policies, refusals }) => (
        <>
          <Table
            label="Policies in force"
            rows={policies.toSorted(byPolicy)}
            keyOf={({ name }) => name}
            none="No policy is published: start health-evaluator."
            columns={[
              {
                ...{ title: 'Policy', kind: 'text' },
                of: ({ name }) => (
                  <a class="mono" href={addressOf('policies', name)}>
                    {name}
                  </a>
                ),
              },
              { title: 'Hash', kind: 'text', of: ({ hash }) => <span class="mono dim">{hash.slice(0, 12)}</span> },
              { title: 'From', kind: 'text', of: ({ origin }) => orDash(origin) },
              { title: 'Agents', kind: 'number', of: ({ agents }) => text(`${agents}`) },
              { title: 'Since', kind: 'text', of: ({ publishedAt }) => <Clock at={publishedAt} /> },
              { title: 'By', kind: 'text', of: ({ publishedBy }) => publishedBy },
              { title: 'Why', kind: 'wide', of: ({ why }) => orDash(why) },
            ]}
          />
          {refusals.length > 0 && (
            <section class="panel" aria-labelledby="refused">
              <h2 id="refused">Refused</h2>
              <Table
                label="Refused policies"
                rows={refusals}
                keyOf={({ refusalId }) => refusalId}
                none=""
                columns={[
                  { title: 'Policy', kind: 'text', of: ({ name }) => name },
                  { title: 'Refused', kind: 'text', of: ({ refusedAt }) => <Clock at={refusedAt} /> },
                  { title: 'By', kind: 'text', of: ({ refusedBy }) => refusedBy },
                  { title: 'Mistakes', kind: 'wide', of: ({ mistakes }) => mistakes.join('; ') },
                ]}
              />
            </section>
          )}
        </>
      )}
    </Loaded>
  );
};

export const Policy = ({ name }: { readonly name: string }) => {
  const { live } = usePage();
  const { text } = useKnown();
  const all = useAnswer(live, ROUTES.policies).value?.policies ?? [];
  const [other, setOther] = useState<string | null>(null);
  return (
    <Loaded answered={useAnswer(live, ROUTES.policy(name))}>
      {(policy) => (
        <>
          <h1 id="title" class="mono">
            {policy.name}
          </h1>
          <Facts
            of={[
              ['Hash', policy.hash],
              ['From', orDash(policy.origin)],
              ['Agents', text(`${policy.agents}`)],
              ['Since', <Clock key="since" at={policy.publishedAt} />],
              ['By', policy.publishedBy],
              ['Why', orDash(policy.why)],
            ]}
          />
          <Compare
            others={all.filter((one) => one.name !== name).toSorted(byPolicy)}
            other={other}
            onOther={setOther}
          />
          {other !== null && <Compared key={other} document={policy.document} other={other} />}
          <section class="panel" aria-labelledby="document">
            <h2 id="document">Document</h2>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it */}
            <pre class="document" tabIndex={0}>
              {JSON.stringify(policy.document, null, 2)}
            </pre>
          </section>
        </>
      )}
    </Loaded>
  );
};

type CompareProps = {
  readonly others: readonly PolicyRow[];
  readonly other: string | null;
  readonly onOther: (name: string | null) => void;
};

const Compare = ({ others, other, onOther }: CompareProps) => (
  <div class="controls">
    <label>
      Compare with
      <select value={other ?? ''} onChange={(event) => onOther(event.currentTarget.value || null)}>
        <option value="">no other policy</option>
        {others.map(({ name }) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  </div>
);

const Compared = ({ document, other }: { readonly document: unknown; readonly other: string }) => {
  const { live } = usePage();
  return (
    <Loaded answered={useAnswer(live, ROUTES.policy(other))}>
      {(found) => <Differences of={differences(found.document, document)} other={other} />}
    </Loaded>
  );
};

const Differences = ({ of, other }: { readonly of: readonly Difference[]; readonly other: string }) => (
  <Table
    label={`Differences from ${other}`}
    rows={of}
    keyOf={({ path }) => path}
    none="They are the same."
    columns={[
      { title: 'Setting', kind: 'text', of: ({ path }) => <span class="mono">{path}</span> },
      { title: `In ${other}`, kind: 'text', of: ({ old }) => <span class="old">{old ?? 'not set'}</span> },
      { title: 'Here', kind: 'wide', of: (one) => <span class="new">{one.new ?? 'not set'}</span> },
    ]}
  />
);
