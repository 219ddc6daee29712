import type { TicketRow } from '@vigil/read-model';
import { useEffect, useRef } from 'preact/hooks';
import type { FleetAnswer } from '../live/routes.ts';
import { isUnderWay, type Sent } from '../model/commands.ts';
import { sessionText } from '../model/knowledge.ts';
import { addressOf, VIEWS, type ViewName } from '../model/places.ts';
import { orDash } from '../model/text.ts';
import { ageText, clockTime } from '../model/time.ts';
import { useKnown, usePage } from './context.tsx';

export const Navigation = ({ current, waiting }: { readonly current: ViewName; readonly waiting: number }) => {
  const bar = useRef<HTMLElement>(null);
  // On a phone the views are wider than the screen.
  useEffect(
    () => bar.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' }),
    [current],
  );
  return (
    <nav ref={bar} class="nav" aria-label="Views">
      <ul>
        {VIEWS.map(({ name, title, key }) => (
          <li key={name}>
            <a href={addressOf(name, null)} aria-current={name === current ? 'page' : undefined} title={`g ${key}`}>
              {title}
              {name === 'inbox' && waiting > 0 && (
                <span class="badge">
                  {waiting}
                  <span class="hidden"> waiting</span>
                </span>
              )}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
};

/** How old the answers are, in a line that is always there. */
export const KnowledgeLine = () => {
  const { knowledge, blindSince, needsLogin, now, offsetMinutes } = usePage();
  if (needsLogin)
    return (
      <p class="knowledge blind" role="alert">
        {sessionText(knowledge !== null)}
      </p>
    );
  if (knowledge === null)
    return <p class="knowledge">{blindSince === null ? 'Asking the dashboard…' : 'Nothing is known yet.'}</p>;
  if (blindSince !== null)
    return (
      <p class="knowledge blind" role="alert">
        BLIND since {clockTime(now, blindSince, offsetMinutes)} ({ageText(now, blindSince)}): states are as they were
        then.
      </p>
    );
  if (knowledge.upTo === null) return <p class="knowledge">Nothing is known yet.</p>;
  return <p class="knowledge">current, {ageText(now, Math.floor(knowledge.upTo / 1000) * 1000)} old</p>;
};

export const Away = () => {
  const { away, now, offsetMinutes } = usePage();
  if (away.length === 0) return null;
  return (
    <ul class="away" aria-label="Parts of Vigil that do not answer">
      {away.map(({ part, since, detail }) => (
        <li key={part}>
          <strong>AWAY</strong> {part} since {clockTime(now, since, offsetMinutes)}
          {detail === '' ? '' : `: ${detail}`}
        </li>
      ))}
    </ul>
  );
};

/** Whether the fleet is held, in the first line of the page, where no view scrolls it away. */
export const FleetMarks = ({ fleet }: { readonly fleet: FleetAnswer['fleet'] }) => {
  const { text, tone } = useKnown();
  const holds = [fleet.halted ? 'HALTED' : null, fleet.braked ? 'BRAKE' : null].filter((one) => one !== null);
  return (
    <>
      {holds.map((hold) => (
        <strong key={hold} class={`hold ${tone('bad')}`}>
          {text(hold)}
        </strong>
      ))}
    </>
  );
};

/** What holds the whole fleet, in the words of the terminal. */
export const FleetLines = ({ fleet }: { readonly fleet: FleetAnswer['fleet'] }) => {
  const { isNow, text } = useKnown();
  return (
    <>
      {fleet.halted && (
        <p class="banner danger" role="status">
          <strong>{text('HALTED')}</strong> by {orDash(fleet.haltBy)}: {orDash(fleet.haltWhy)}.{' '}
          {isNow && 'Nothing acts.'}
        </p>
      )}
      {fleet.braked && (
        <p class="banner danger" role="status">
          <strong>{text('BRAKE')}</strong> on {orDash(fleet.brakeScope).replace(':', ' ')}: {orDash(fleet.brakeWhy)}
        </p>
      )}
      {fleet.dryRun && (
        <p class="banner warning" role="status">
          <strong>{text('DRY RUN')}</strong> by {orDash(fleet.dryRunBy)}: steps only report what they would do.
        </p>
      )}
    </>
  );
};

/** The notification of an operator review. It is above every view, and no worker waits for it. */
export const Notice = ({ ticket, onDismiss }: { readonly ticket: TicketRow; readonly onDismiss: () => void }) => (
  <div class={`notice severity-${ticket.severity ?? 'unknown'}`} role="alert">
    <p>
      <strong class="severity">{ticket.severity ?? 'unknown'}</strong>{' '}
      {ticket.agentId !== null && <a href={addressOf('fleet', ticket.agentId)}>{ticket.agentId}</a>}
    </p>
    <p>{orDash(ticket.analysis)}</p>
    <button type="button" class="button" onClick={onDismiss}>
      Dismiss
    </button>
  </div>
);

const BECAME: Readonly<Record<Sent['became']['kind'], string>> = {
  sending: 'sending',
  asked: 'asked',
  applied: 'done',
  refused: 'refused',
  unknown: 'no outcome yet',
};

const textOf = ({ became }: Sent): string => ('text' in became && became.text !== '' ? `: ${became.text}` : '');

/** What became of the commands of this page. */
export const Outcomes = ({
  sent,
  onDismiss,
}: {
  readonly sent: readonly Sent[];
  readonly onDismiss: (id: number) => void;
}) => (
  <ol class="outcomes" aria-live="polite" aria-label="Commands of this page">
    {sent.map((one) => (
      <li key={one.id} class={`outcome outcome-${one.became.kind}`}>
        <span>
          <strong>{one.label}</strong> {BECAME[one.became.kind]}
          {textOf(one)}
        </span>
        {!isUnderWay(one) && (
          <button type="button" class="close" aria-label={`Dismiss: ${one.label}`} onClick={() => onDismiss(one.id)}>
            ×
          </button>
        )}
      </li>
    ))}
  </ol>
);
