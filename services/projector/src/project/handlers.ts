import type { ContentOf, EventOf, TopicName } from '@vigil/events';
import type { Statement } from '@vigil/read-model';

/** The events of one topic, each by its type: a missing one does not compile. */
export type Handlers<T extends TopicName> = {
  readonly [K in ContentOf<T>['type']]: (event: Extract<EventOf<T>, { readonly type: K }>) => readonly Statement[];
};
