import type { AlertRow, SilenceRow } from '@vigil/read-model';
import { matchersText } from '@vigil/read-model/matchers';
import { standingText } from '@vigil/read-model/standing';
import { ROUTES } from '../live/routes.ts';
import { alertActions, channelActions, silenceActions } from '../model/actions.ts';
import { lastDeliveries } from '../model/deliveries.ts';
import { orDash } from '../model/text.ts';
import { useAnswer, useKnown, usePage } from '../parts/context.tsx';
import { Actions, Age, AgentLink, Clock, Loaded, Table } from '../parts/parts.tsx';

const Standing = ({ alert }: { readonly alert: AlertRow }) => {
  const known = useKnown();
  if (alert.resolvedAt !== null)
    return (
      <span class="dim">
        resolved <Clock at={alert.resolvedAt} />
      </span>
    );
  const text = known.text(standingText(alert));
  return alert.waitsAgain ? <strong>{text}</strong> : <span>{text}</span>;
};

const deliveryText = ({ sink, ok, detail }: AlertRow['deliveries'][number]): string =>
  ok ? sink : `${sink}: not delivered${detail === null ? '' : `, ${detail}`}`;

/** The silences in force; nothing without one. */
const Silences = ({ silences }: { readonly silences: readonly SilenceRow[] }) =>
  silences.length === 0 ? null : (
    <section aria-label="Silences">
      <h2>Silences</h2>
      <Table
        label="Silences"
        rows={silences}
        keyOf={({ silenceId }) => silenceId}
        none="No silences."
        columns={[
          { title: 'Alerts of', kind: 'text', of: (silence) => <span class="mono">{matchersText(silence)}</span> },
          { title: 'Until', kind: 'text', of: ({ until }) => <Clock at={until} /> },
          { title: 'By', kind: 'text', of: ({ by }) => by },
          { title: 'Why', kind: 'wide', of: ({ why }) => why },
          { title: 'Actions', kind: 'buttons', of: (silence) => <Actions of={silenceActions(silence)} /> },
        ]}
      />
    </section>
  );

/** Alerts, the unresolved first, and the silences. */
export const Alerts = () => {
  const { live } = usePage();
  const silences = useAnswer(live, ROUTES.silences).value?.silences ?? [];
  return (
    <Loaded answered={useAnswer(live, ROUTES.alerts)}>
      {({ alerts, next }) => (
        <>
          <Actions of={channelActions(alerts)} />
          <Table
            label="Alerts"
            rows={alerts}
            keyOf={({ alertId }) => alertId}
            none="No alerts."
            readOlder={next === null ? null : () => live.readMore(ROUTES.alerts)}
            columns={[
              {
                ...{ title: 'Severity', kind: 'text' },
                of: ({ severity }) => <span class={`severity severity-${severity}`}>{orDash(severity)}</span>,
              },
              { title: 'Raised', kind: 'text', of: ({ raisedAt }) => <Age at={raisedAt} /> },
              {
                ...{ title: 'Alert', kind: 'wide' },
                of: ({ title, text }) => (
                  <>
                    <strong>{orDash(title)}</strong>
                    {text !== null && text !== '' && <p class="dim lines">{text}</p>}
                  </>
                ),
              },
              { title: 'Agent', kind: 'text', of: ({ agentId }) => <AgentLink id={agentId} /> },
              { title: 'Stands', kind: 'text', of: (alert) => <Standing alert={alert} /> },
              {
                ...{ title: 'Channels', kind: 'text' },
                of: ({ deliveries }) =>
                  deliveries.length === 0
                    ? '-'
                    : lastDeliveries(deliveries).map((delivery) => (
                        <p key={delivery.sink} class={delivery.ok ? 'dim' : 'bad'}>
                          {deliveryText(delivery)}
                        </p>
                      )),
              },
              { title: 'Actions', kind: 'buttons', of: (alert) => <Actions of={alertActions(alert)} /> },
            ]}
          />
          <Silences silences={silences} />
        </>
      )}
    </Loaded>
  );
};
