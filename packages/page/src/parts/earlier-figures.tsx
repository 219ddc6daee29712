import type { FiguresResult, ReplayRow } from '@vigil/read-model';
import { useEffect, useState } from 'preact/hooks';
import { post } from '../live/browser.ts';
import { ROUTES } from '../live/routes.ts';
import { figuresText, standingText } from '../model/replays.ts';
import type { Span } from '../model/timeline.ts';
import { useAnswer, usePage } from './context.tsx';

type OnRead = { readonly onRead: (result: FiguresResult) => void };
type OnEnd = { readonly onEnd: () => void };

/** How far the replay is, and its result once it is done. */
const Reading = ({ replayId, onRead, onEnd }: OnRead & OnEnd & { readonly replayId: string }) => {
  const { live } = usePage();
  const { value: replay, error } = useAnswer(live, ROUTES.replay(replayId));
  const result = replay?.result?.kind === 'figures' ? replay.result : null;
  useEffect(() => {
    if (result !== null) onRead(result);
  }, [result]);
  const isOver = replay !== null && replay.state !== 'waiting' && replay.state !== 'running';
  useEffect(() => {
    if (isOver || error !== null) onEnd();
  }, [isOver, error]);
  const text = result === null ? (replay === null ? 'waiting' : standingText(replay)) : figuresText(result);
  return (
    <span class="dim" role="status">
      {error ?? text}
    </span>
  );
};

/**
 * Reads the figures of the whole timeline from the log. The page itself has only those since it was opened, and those
 * that changed a state.
 */
export const EarlierFigures = ({
  agentId,
  span,
  onRead,
}: OnRead & { readonly agentId: string; readonly span: Span }) => {
  const [replayId, setReplayId] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [isReading, setIsReading] = useState(false);
  const start = async (): Promise<void> => {
    setProblem(null);
    setIsReading(true);
    try {
      const [since, until] = [Math.floor(span.from), Math.ceil(span.to)];
      const asked = await post('/v1/replays', { kind: 'figures', agent: agentId, since, until });
      setReplayId((asked as ReplayRow).replayId);
    } catch (error) {
      setProblem((error as Error).message);
      setIsReading(false);
    }
  };
  return (
    <div class="actions">
      <button type="button" class="button" disabled={isReading} onClick={() => void start()}>
        Read earlier figures
      </button>
      {problem !== null && (
        <span class="problem" role="alert">
          {problem}
        </span>
      )}
      {problem === null && replayId === null && (
        <span class="dim">A replay of this agent. It reads the log and writes nothing.</span>
      )}
      {replayId !== null && (
        <Reading key={replayId} replayId={replayId} onRead={onRead} onEnd={() => setIsReading(false)} />
      )}
    </div>
  );
};
