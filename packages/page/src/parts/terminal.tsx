import type { AgentRow } from '@vigil/read-model';
import { useEffect, useRef, useState } from 'preact/hooks';
import { followTerminal } from '../live/terminal.ts';
import {
  isLive,
  lostAt,
  maySeeTerminals,
  opening,
  received,
  type TerminalView,
  whyNoTerminal,
} from '../model/terminal.ts';
import { orDash } from '../model/text.ts';
import { ageText } from '../model/time.ts';
import { usePage } from './context.tsx';
import { Age, Clock } from './parts.tsx';

/** The live terminal of an agent, for operators, while they have it open. */
export const TerminalPanel = ({ agent }: { readonly agent: AgentRow }) => {
  const { me } = usePage();
  const [isOpen, setIsOpen] = useState(false);
  if (!maySeeTerminals(me)) return null;
  const why = whyNoTerminal(agent);
  return (
    <section class="panel" aria-labelledby="terminal">
      <h2 id="terminal">Terminal</h2>
      {isOpen ? (
        <Open agentId={agent.agentId} onClose={() => setIsOpen(false)} />
      ) : why !== null ? (
        <p class="none">{why}</p>
      ) : (
        <div class="actions">
          <button type="button" class="button" onClick={() => setIsOpen(true)}>
            Show terminal
          </button>
          <span class="dim">Its runtime sends the last 200 lines and what changes. Your name is recorded.</span>
        </div>
      )}
    </section>
  );
};

const Open = ({ agentId, onClose }: { readonly agentId: string; readonly onClose: () => void }) => {
  const [view, setView] = useState<TerminalView>(() => opening(Date.now()));
  const [paused, setPaused] = useState<readonly string[] | null>(null);
  const output = useRef<HTMLElement>(null);
  useEffect(
    () =>
      followTerminal(agentId, {
        received: (message) => setView((before) => received(before, message)),
        lost: (why, isFinal) => setView((before) => lostAt(before, Date.now(), why, isFinal)),
      }),
    [agentId],
  );
  const lines = paused ?? view.lines;
  useEffect(() => {
    if (paused === null) output.current?.scrollTo({ top: output.current.scrollHeight });
  }, [lines, paused]);
  return (
    <>
      <div class="actions">
        <button
          type="button"
          class="button"
          aria-pressed={paused !== null}
          onClick={() => setPaused(paused === null ? view.lines : null)}
        >
          {paused === null ? 'Pause' : 'Follow'}
        </button>
        <button type="button" class="button" onClick={onClose}>
          Close terminal
        </button>
        <TerminalState view={view} isPaused={paused !== null} />
      </div>
      <section
        ref={output}
        class={isLive(view) && paused === null ? 'output terminal' : 'output terminal stale'}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it
        tabIndex={0}
        aria-label={`Terminal of ${agentId}`}
      >
        <pre>{lines.join('\n')}</pre>
      </section>
      {view.unseen > 0 && (
        <p class="dim">{view.unseen} lines came faster than they are sent, and are left out between these.</p>
      )}
    </>
  );
};

/** Whether the lines are live, and since when not. */
const TerminalState = ({ view, isPaused }: { readonly view: TerminalView; readonly isPaused: boolean }) => {
  const { now } = usePage();
  if (isLive(view) && isPaused) return <span role="status">Paused: these lines are not updated.</span>;
  if (isLive(view))
    return (
      <span class="dim">
        {view.changedAt === null ? 'Live.' : `Live. Last change ${ageText(now, view.changedAt)} ago.`}
      </span>
    );
  return (
    <span class={view.status === 'waiting' && view.lost === null ? 'dim' : 'bad'} role="status">
      <NotLive view={view} />
    </span>
  );
};

const NotLive = ({ view: { status, since, runtimeId, closedWhy, lost, lines } }: { readonly view: TerminalView }) => {
  const old = lines.length > 0 ? ' These lines are old.' : '';
  if (lost !== null)
    return (
      <>
        Not live since <Clock at={lost.since} />: {lost.why.replace(/\.$/, '')}.
        {lost.isFinal ? '' : ' The page tries again.'}
        {old}
      </>
    );
  switch (status) {
    case 'closed':
      return (
        <>
          Closed at <Clock at={since} />: {closedWhy ?? 'the runtime gave no reason'}.{old}
        </>
      );
    case 'away':
      return (
        <>
          Runtime {orDash(runtimeId)} away since <Clock at={since} />.{old}
        </>
      );
    case 'waiting':
    case 'live':
      return (
        <>
          Waiting for runtime {orDash(runtimeId)} for <Age at={since} />
        </>
      );
  }
};
