import { KINDS, NOTHING_WAITS } from '@vigil/cli/inbox';
import type { InboxItem } from '@vigil/read-model';
import { isUnacknowledged, openAlertsText } from '@vigil/read-model/standing';
import { ROUTES } from '../live/routes.ts';
import { answersOf, linesOf } from '../model/inbox/inbox.ts';
import { isAnsweredByQuestion } from '../model/inbox/questions.ts';
import { addressOf } from '../model/places.ts';
import { countdown } from '../model/time.ts';
import { useAnswer, useKnown, usePage } from '../parts/context.tsx';
import { Actions, Age, AgentLink, Clock, Loaded, TaskLink } from '../parts/parts.tsx';
import { Questions } from './questions.tsx';

const Deadline = ({ item }: { readonly item: InboxItem }) => {
  const { now } = usePage();
  if (item.deadlineAt === null)
    return <p class="deadline calm">No deadline. Without an answer, {item.withoutAnswer}</p>;
  const { text, urgency } = countdown(now, item.deadlineAt);
  return (
    <div class={`deadline ${urgency}`}>
      <span class="left">{text}</span>
      <span class="then">
        until <Clock at={item.deadlineAt} />, then {item.withoutAnswer}
      </span>
    </div>
  );
};

const Item = ({ item }: { readonly item: InboxItem }) => (
  <li class={`item item-${item.kind}`}>
    <div class="item-head">
      <span class="kind">{KINDS[item.kind]}</span>
      {item.agentId !== null && <AgentLink id={item.agentId} />}
      {item.taskId !== null && <TaskLink id={item.taskId} />}
      <span class="dim">
        {item.since !== null && (
          <>
            for <Age at={item.since} />
          </>
        )}
      </span>
      <span class="mono dim id">{item.id}</span>
    </div>
    {!isAnsweredByQuestion(item) && <p class="question">{item.text ?? 'Its sender did not report the question.'}</p>}
    <Deadline item={item} />
    <div class="item-foot">
      <Actions of={answersOf(item)} />
      {linesOf(item).map((line) => (
        <code key={line} class="command-line">
          {line}
        </code>
      ))}
    </div>
    {item.questions.length > 0 && <Questions item={item} />}
  </li>
);

/** Alerts are not in the inbox, as most of them need no answer. */
const OpenAlerts = () => {
  const { live } = usePage();
  const { isNow, until } = useKnown();
  const { value } = useAnswer(live, ROUTES.alerts);
  if (value === null) return null;
  const open = value.alerts.filter(isUnacknowledged);
  const hasMore = value.next !== null && value.alerts.at(-1)?.resolvedAt === null;
  const text = openAlertsText(open.length, hasMore);
  return (
    text && (
      <p class="open-alerts">
        <a href={addressOf('alerts', null)}>{text}</a>
        {!isNow && (
          <>
            , known at <Clock at={until} />
          </>
        )}
      </p>
    )
  );
};

export const Inbox = () => (
  <>
    <Items />
    <OpenAlerts />
  </>
);

const Items = () => {
  const { live } = usePage();
  return (
    <Loaded answered={useAnswer(live, ROUTES.inbox)}>
      {({ inbox }) =>
        inbox.length === 0 ? (
          <p class="none">{NOTHING_WAITS}</p>
        ) : (
          <ul class="inbox" aria-label="What waits for a person">
            {inbox.map((item) => (
              <Item key={item.id} item={item} />
            ))}
          </ul>
        )
      }
    </Loaded>
  );
};
