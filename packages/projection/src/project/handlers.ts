import type { ContentOf, EventOf, TopicName } from '@vigil/events';
import { fact, orderOf, type Statement } from '@vigil/read-model';
import type { PlacedEvent } from '@vigil/stream';

/** An event of a topic, by its type. */
export type Placed<T extends TopicName, K extends EventOf<T>['type']> = Extract<PlacedEvent<T>, { readonly type: K }>;

/** The events of one topic, each by its type: a missing one does not compile. */
export type Handlers<T extends TopicName> = {
  readonly [K in ContentOf<T>['type']]: (event: Extract<PlacedEvent<T>, { readonly type: K }>) => readonly Statement[];
};

/** The policy under which it was decided. */
export const policyOf = ({ policy }: PlacedEvent<TopicName>) => ({
  policyName: policy?.name ?? null,
  policyHash: policy?.hash ?? null,
});

/** Fields as a column group names them: with its name in front. */
export const prefixed = <Group extends string, Fields extends object>(group: Group, fields: Fields) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [`${group}${name.charAt(0).toUpperCase()}${name.slice(1)}`, value]),
  ) as { readonly [Name in keyof Fields & string as `${Group}${Capitalize<Name>}`]: Fields[Name] };

type About = Partial<
  Readonly<Record<'agentId' | 'instanceId' | 'taskId' | 'episodeId' | 'caseId', string | null | undefined>>
>;

/**
 * Fields that have a row of their own (a case its plan), or that are long and the same in every event of an episode.
 */
const KEPT_ELSEWHERE = new Set(['plan', 'recovery', 'lastOutput']);

/** The values of an event in a row about it. */
export const journalValues = (event: PlacedEvent<TopicName>) => {
  const about = event.payload as About;
  return {
    ...event,
    ...policyOf(event),
    agentId: about.agentId ?? null,
    instanceId: about.instanceId ?? null,
    taskId: about.taskId ?? null,
    episodeId: about.episodeId ?? null,
    caseId: about.caseId ?? null,
    eventOrder: orderOf(event),
    payload: Object.fromEntries(Object.entries(event.payload).filter(([name]) => !KEPT_ELSEWHERE.has(name))),
  };
};

/** A line that is kept for ever. */
export const journal = (event: PlacedEvent<TopicName>): Statement => fact('journal', journalValues(event));

/** A line that is kept for the days of history: what agents do, and how they are judged. */
export const history = (event: PlacedEvent<TopicName>): Statement => fact('history', journalValues(event));

export const historyOnly = (event: PlacedEvent<TopicName>): readonly Statement[] => [history(event)];

/** A story line and nothing else. */
export const journalOnly = (event: PlacedEvent<TopicName>): readonly Statement[] => [journal(event)];
