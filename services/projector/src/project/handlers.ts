import type { ContentOf, TopicName } from '@vigil/events';
import type { Statement } from '@vigil/read-model';
import type { PlacedEvent } from '@vigil/stream';

/** The events of one topic, each by its type: a missing one does not compile. */
export type Handlers<T extends TopicName> = {
  readonly [K in ContentOf<T>['type']]: (event: Extract<PlacedEvent<T>, { readonly type: K }>) => readonly Statement[];
};
