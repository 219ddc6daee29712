import { ROUTES } from '../live/routes.ts';
import { orDash } from '../model/text.ts';
import { useAnswer, usePage } from '../parts/context.tsx';
import { Age, Loaded, Table } from '../parts/parts.tsx';

/** Records that a service could not read, the newest first. */
export const Letters = () => {
  const { live } = usePage();
  return (
    <Loaded answered={useAnswer(live, ROUTES.letters)}>
      {({ deadLetters, next }) => (
        <Table
          label="Dead letters"
          rows={deadLetters}
          keyOf={({ eventId }) => eventId}
          none="No dead letters: every record could be read."
          readOlder={next === null ? null : () => live.readMore(ROUTES.letters)}
          columns={[
            { title: 'Failed', kind: 'text', of: ({ failedAt }) => <Age at={failedAt} /> },
            { title: 'Service', kind: 'text', of: ({ service }) => service },
            {
              ...{ title: 'Record', kind: 'text' },
              of: ({ originalTopic, originalPartition, originalOffset, originalKey }) => (
                <>
                  <span class="mono">{originalTopic}</span>
                  <p class="dim">
                    partition {originalPartition}, offset {originalOffset}, key {orDash(originalKey)}
                  </p>
                </>
              ),
            },
            {
              ...{ title: 'Why', kind: 'wide' },
              of: ({ errorType, reason, leftOut }) => (
                <>
                  {reason} <span class="dim">({errorType})</span>
                  {leftOut > 0 && <p class="dim">{leftOut} more have no dead letter of their own</p>}
                </>
              ),
            },
            {
              ...{ title: 'Content', kind: 'text' },
              of: ({ preview }) =>
                preview === null ? (
                  '-'
                ) : (
                  <details>
                    <summary>Show</summary>
                    <pre class="preview">{preview}</pre>
                  </details>
                ),
            },
          ]}
        />
      )}
    </Loaded>
  );
};
