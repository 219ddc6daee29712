import type { AlertRow } from '@vigil/read-model';

type Delivery = AlertRow['deliveries'][number];

/** The last delivery to each channel: an alert is sent to a channel at its beginning, at each change and at its end. */
export const lastDeliveries = (deliveries: readonly Delivery[]): readonly Delivery[] => [
  ...new Map(deliveries.map((one) => [one.sink, one])).values(),
];
