import type { PolicyRow, Replay, ReplayRow } from '@vigil/read-model';
import { useState } from 'preact/hooks';
import { get, post, remove } from '../live/browser.ts';
import { ROUTES, replayAddress } from '../live/routes.ts';
import { addressOf } from '../model/places.ts';
import {
  bodyOf,
  exportAddress,
  formIn,
  kindText,
  OWN_TEXT,
  type ReplayForm,
  SPANS,
  type SpanName,
  spanText,
  standingText,
} from '../model/replays.ts';
import { useAnswer, usePage } from '../parts/context.tsx';
import { Age, AgentLink, Facts, Loaded, Table } from '../parts/parts.tsx';
import { ReplayResult } from './replay-result.tsx';

type FieldsProps = {
  readonly form: ReplayForm;
  readonly onChange: (more: Partial<ReplayForm>) => void;
};

const KINDS = [
  { kind: 'verify', title: 'Verify', text: 'compare the recorded decisions with those of this version' },
  { kind: 'what_if', title: 'What if', text: 'compare the recorded policies with another one' },
] as const;

const SpanFields = ({ form, onChange }: FieldsProps) => (
  <div class="controls">
    <label>
      Span
      <select value={form.span} onChange={(event) => onChange({ span: event.currentTarget.value as SpanName })}>
        {SPANS.map(({ name, title }) => (
          <option key={name} value={name}>
            {title}
          </option>
        ))}
      </select>
    </label>
    {form.span === 'own' && (
      <>
        <label>
          From
          <input
            type="datetime-local"
            step={1}
            value={form.from}
            onInput={(event) => onChange({ from: event.currentTarget.value })}
          />
        </label>
        <label>
          To
          <input
            type="datetime-local"
            step={1}
            value={form.to}
            onInput={(event) => onChange({ to: event.currentTarget.value })}
          />
        </label>
      </>
    )}
    <label>
      Agent
      <input
        maxLength={128}
        placeholder="all agents"
        value={form.agent}
        onInput={(event) => onChange({ agent: event.currentTarget.value })}
      />
    </label>
  </div>
);

const PolicyFields = ({ form, onChange, policies }: FieldsProps & { readonly policies: readonly PolicyRow[] }) => {
  const [problem, setProblem] = useState<string | null>(null);
  const edit = async (): Promise<void> => {
    try {
      const { document } = (await get(`/v1/policies/${encodeURIComponent(form.policy)}`)) as {
        readonly document: unknown;
      };
      setProblem(null);
      onChange({ policy: OWN_TEXT, text: JSON.stringify(document, null, 2) });
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  const isPublished = form.policy !== '' && form.policy !== OWN_TEXT;
  return (
    <>
      <div class="controls">
        <label>
          Policy
          <select value={form.policy} onChange={(event) => onChange({ policy: event.currentTarget.value })}>
            <option value="">choose one</option>
            {policies.map(({ name }) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
            <option value={OWN_TEXT}>a text of my own</option>
          </select>
        </label>
        {isPublished && (
          <button type="button" class="button" onClick={() => void edit()}>
            Edit a copy
          </button>
        )}
        <label>
          Instead of
          <select value={form.insteadOf} onChange={(event) => onChange({ insteadOf: event.currentTarget.value })}>
            <option value="">all recorded policies</option>
            {policies.map(({ name }) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
      </div>
      {form.policy === OWN_TEXT && (
        <label class="field">
          Text of the policy, as YAML or JSON
          <textarea
            class="mono"
            rows={14}
            spellcheck={false}
            value={form.text}
            onInput={(event) => onChange({ text: event.currentTarget.value })}
          />
        </label>
      )}
      {problem !== null && <p class="problem">{problem}</p>}
    </>
  );
};

const Form = ({ query }: { readonly query: string }) => {
  const { live, places, now, offsetMinutes, me } = usePage();
  const [form, setForm] = useState(() => formIn(query, offsetMinutes));
  const [mistake, setMistake] = useState<string | null>(null);
  const [isSending, setIsSending] = useState(false);
  const policies = useAnswer(live, ROUTES.policies).value?.policies ?? [];
  const onChange: FieldsProps['onChange'] = (more) => setForm((before) => ({ ...before, ...more }));
  const start = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (isSending) return;
    const body = bodyOf(form, now, offsetMinutes);
    if ('mistake' in body) return setMistake(String(body.mistake));
    setIsSending(true);
    try {
      const { replayId } = (await post('/v1/replays', body)) as ReplayRow;
      places.go({ view: 'replay', id: replayId, query: '' });
    } catch (error) {
      setMistake((error as Error).message);
      setIsSending(false);
    }
  };
  return (
    <form class="replay-form" aria-label="New replay" onSubmit={(event) => void start(event)}>
      <fieldset class="kinds">
        <legend class="hidden">What to compare</legend>
        {KINDS.map(({ kind, title, text }) => (
          <label key={kind} class="choice">
            <input type="radio" name="kind" checked={form.kind === kind} onChange={() => onChange({ kind })} />
            <span>
              {title} <span class="dim">{text}</span>
            </span>
          </label>
        ))}
      </fieldset>
      <SpanFields form={form} onChange={onChange} />
      {form.kind === 'what_if' && <PolicyFields form={form} onChange={onChange} policies={policies} />}
      {mistake !== null && (
        <p class="problem lines" role="alert">
          {mistake}
        </p>
      )}
      <div class="actions">
        <button type="submit" class="button solid" aria-disabled={isSending || me === null}>
          Replay
        </button>
        {(me?.role === 'operator' || me?.role === 'admin') && (
          <a class="button" href={exportAddress(form, now, offsetMinutes)}>
            Export this span
          </a>
        )}
        <span class="dim">Both read the log and write nothing.</span>
      </div>
    </form>
  );
};

/** The form of a replay, and those that the dashboard has. */
export const ReplayView = ({ query }: { readonly query: string }) => {
  const { live, now, offsetMinutes } = usePage();
  return (
    <>
      <Form query={query} />
      <Loaded answered={useAnswer(live, ROUTES.replays)}>
        {({ replays }) => (
          <Table
            label="Replays"
            rows={replays}
            keyOf={({ replayId }) => replayId}
            none="No replay in the last hour. The dashboard keeps results in its memory, for an hour."
            columns={[
              {
                ...{ title: 'Replay', kind: 'text' },
                of: (one) => <a href={addressOf('replay', one.replayId)}>{kindText(one)}</a>,
              },
              { title: 'Span', kind: 'text', of: (one) => spanText(one, now, offsetMinutes) },
              {
                title: 'Agent',
                kind: 'text',
                of: ({ agentId }) => (agentId === null ? 'all' : <AgentLink id={agentId} />),
              },
              { title: 'Stands', kind: 'wide', of: standingText },
              { title: 'Asked', kind: 'text', of: ({ askedAt }) => <Age at={askedAt} /> },
              { title: 'By', kind: 'text', of: ({ by }) => by },
            ]}
          />
        )}
      </Loaded>
    </>
  );
};

/** A viewer ends only what that viewer has asked for. */
const mayEnd = (me: { readonly name: string; readonly role: string } | null, { by }: ReplayRow): boolean =>
  me !== null && (me.name === by || me.role === 'operator' || me.role === 'admin');

const Progress = ({ replay }: { readonly replay: Replay }) => {
  const { live, me } = usePage();
  const [problem, setProblem] = useState<string | null>(null);
  const cancel = async (): Promise<void> => {
    try {
      await remove(replayAddress(replay.replayId));
      live.refresh();
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  return (
    <>
      <p class="question" role="status">
        {standingText(replay)}
      </p>
      {/* Without a value it only shows that something happens. */}
      <progress
        class="progress"
        aria-label="Records that are read"
        {...(replay.of !== null && { value: replay.done, max: Math.max(1, replay.of) })}
      />
      {mayEnd(me, replay) && (
        <div class="actions">
          <button type="button" class="button" onClick={() => void cancel()}>
            Cancel
          </button>
        </div>
      )}
      {problem !== null && <p class="problem">{problem}</p>}
    </>
  );
};

const Standing = ({ replay }: { readonly replay: Replay }) => {
  switch (replay.state) {
    case 'waiting':
    case 'running':
      return <Progress replay={replay} />;
    case 'done':
      return replay.result === null ? null : <ReplayResult replay={replay} result={replay.result} />;
    case 'failed':
      return <p class="problem lines">{replay.why}</p>;
    case 'cancelled':
      return <p class="none">{standingText(replay)}</p>;
  }
};

/** One replay: how far it is, and its result. */
export const ReplayedView = ({ id }: { readonly id: string }) => {
  const { live, now, offsetMinutes } = usePage();
  return (
    <>
      <h1 id="title">Replay</h1>
      <Loaded answered={useAnswer(live, ROUTES.replay(id))}>
        {(replay) => (
          <>
            <Facts
              of={[
                ['Kind', kindText(replay)],
                ['Span', spanText(replay, now, offsetMinutes)],
                ['Agent', replay.agentId === null ? 'all' : <AgentLink key="agent" id={replay.agentId} />],
                ['Asked by', replay.by],
                ['Asked', <Age key="asked" at={replay.askedAt} />],
              ]}
            />
            <Standing replay={replay} />
            <p>
              <a href={addressOf('replay', null)}>All replays</a>
            </p>
          </>
        )}
      </Loaded>
    </>
  );
};
