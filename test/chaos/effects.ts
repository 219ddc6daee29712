import { Topic } from '@vigil/events';
import { type Chronicle, of } from './chronicle.ts';
import { endsOf, instancesOf } from './ends.ts';

const countedBy = <T>(items: readonly T[], key: (item: T) => string): ReadonlyMap<string, number> =>
  new Map([...Map.groupBy(items, key)].map(([name, of]) => [name, of.length]));

/** How many reminders each instance received. */
const nudgesReceived = ({ diary }: Chronicle): ReadonlyMap<string, number> =>
  countedBy(
    diary.filter(({ what }) => what === 'received nudge'),
    ({ instanceId }) => instanceId,
  );

const receiptsOf = (chronicle: Chronicle) => [
  ...of(chronicle, Topic.orderReceipt, 'ORDER_RECEIPT'),
  ...of(chronicle, Topic.spawnReceipt, 'SPAWN_RECEIPT'),
];

const distinct = <T>(items: readonly T[], key: (item: T) => string): readonly T[] => [
  ...new Map(items.map((item) => [key(item), item])).values(),
];

/** A repeated effect has a second receipt, a second reminder, or a second instance. */
export const repeatedEffects = (chronicle: Chronicle): readonly string[] => {
  const receipts = distinct(
    receiptsOf(chronicle),
    ({ payload: { orderId, outcome, at } }) => `${orderId} ${outcome} ${at}`,
  );
  const answered = [...Map.groupBy(receipts, ({ payload }) => payload.orderId)]
    .filter(([, each]) => each.length > 1)
    .map(([orderId, each]) => `${orderId}: ${each.map(({ payload }) => payload.outcome).join(', ')}`);
  const nudges = distinct(of(chronicle, Topic.agentOrder, 'NUDGE_AGENT'), ({ payload }) => payload.orderId);
  const sent = countedBy(nudges, ({ payload }) => String(payload.instanceId));
  const received = [...nudgesReceived(chronicle)].flatMap(([instanceId, times]) =>
    times > (sent.get(instanceId) ?? 0)
      ? [`${instanceId}: received ${times} of ${sent.get(instanceId) ?? 0} nudges`]
      : [],
  );
  const spawned = of(chronicle, Topic.agentOrder, 'SPAWN_AGENT');
  const instances = countedBy(instancesOf(chronicle), ({ agentId }) => agentId);
  const orders = countedBy(spawned, ({ payload }) => payload.orderId);
  const names = distinct(spawned, ({ payload }) => payload.orderId);
  const wanted = countedBy(names, ({ payload }) => payload.agentId);
  const lived = [...wanted].flatMap(([agentId, times]) =>
    (instances.get(agentId) ?? 0) > times ? [`${agentId}: ${instances.get(agentId)} instances of ${times} orders`] : [],
  );
  const written = [...orders]
    .filter(([, times]) => times > 1)
    .map(([orderId, times]) => `${orderId}: written ${times} times`);
  return [...answered, ...received, ...lived, ...written];
};

/** Each received nudge, each running replacement and each death must be reported, as done or uncertain. */
export const unreportedEffects = (chronicle: Chronicle): readonly string[] => {
  const receipts = of(chronicle, Topic.orderReceipt, 'ORDER_RECEIPT').map(({ payload }) => payload);
  const stamped = receipts.filter(
    ({ kind, outcome }) => kind === 'nudge' && ['delivered', 'answered', 'uncertain'].includes(outcome),
  );
  const reportedOf = countedBy(
    distinct(stamped, ({ orderId }) => orderId),
    ({ instanceId }) => String(instanceId),
  );
  const received = [...nudgesReceived(chronicle)]
    .filter(([instanceId, times]) => times > (reportedOf.get(instanceId) ?? 0))
    .map(([instanceId]) => `${instanceId}: a nudge that it received is in no receipt`);
  const spawnReceipts = of(chronicle, Topic.spawnReceipt, 'SPAWN_RECEIPT').map(({ payload }) => payload);
  const known = new Set(
    spawnReceipts.filter(({ outcome }) => ['spawned', 'uncertain'].includes(outcome)).map(({ agentId }) => agentId),
  );
  const ordered = new Set<string>(of(chronicle, Topic.agentOrder, 'SPAWN_AGENT').map(({ payload }) => payload.agentId));
  const silent = instancesOf(chronicle)
    .filter(({ agentId }) => ordered.has(agentId) && !known.has(agentId))
    .map(({ agentId }) => `${agentId}: it runs, and no receipt reports it`);
  return [...received, ...silent, ...unreportedDeaths(chronicle), ...terminatesUnanswered(chronicle)];
};

const unreportedDeaths = (chronicle: Chronicle): readonly string[] => {
  const ends = endsOf(chronicle);
  return of(chronicle, Topic.agentIntervention, 'AGENT_TERMINATED')
    .filter(({ payload }) => payload.confirmed && !ends.has(String(payload.instanceId)))
    .map(({ payload }) => `${payload.agentId}: reported dead, without a known end`);
};

/** A terminate without an answer must be reported as unconfirmed, unless the end itself was reported. */
const terminatesUnanswered = (chronicle: Chronicle): readonly string[] => {
  const answered = new Set(of(chronicle, Topic.orderReceipt, 'ORDER_RECEIPT').map(({ payload }) => payload.orderId));
  const unconfirmed = new Set(
    of(chronicle, Topic.agentIntervention, 'TERMINATION_UNCONFIRMED').map(({ payload }) => payload.caseId),
  );
  const ends = endsOf(chronicle);
  return of(chronicle, Topic.agentOrder, 'TERMINATE_AGENT')
    .filter(
      ({ payload: { orderId, caseId, instanceId } }) =>
        !answered.has(orderId) && !unconfirmed.has(String(caseId)) && !ends.has(String(instanceId)),
    )
    .map(({ payload }) => `${payload.agentId}: its terminate ${payload.orderId} has neither receipt nor end`);
};
