import type { Behaviour, HerdAgent } from './agent.ts';

export type Failure = Exclude<Behaviour, 'works'>;

export type HerdPlan = {
  /** separates several herds on one system: it precedes each agent's name, and `<name>-host` is its runtime */
  readonly name?: string;
  /** the transport of its order executor; default: kafka */
  readonly executor?: 'kafka' | 'gateway';
  /** agents that continue to work, directly to Kafka and through the gateway */
  readonly straight: number;
  readonly throughHttp: number;
  /** the number of agents of each behaviour, whose starts are spread evenly over `overMs` from `fromMs` on */
  readonly behaviours: Readonly<Record<Failure, number>>;
  readonly fromMs: number;
  readonly overMs: number;
};

export const runtimeOf = ({ name = 'herd' }: HerdPlan): string => `${name}-host`;

export const agent = (name: string, runtimeId: string, more: Partial<HerdAgent> = {}): HerdAgent => ({
  agentId: name,
  instanceId: `${name}.i1`,
  taskId: `task-${name}`,
  runtimeId,
  ingress: 'kafka',
  behaviour: 'works',
  failsAt: Number.POSITIVE_INFINITY,
  attempt: null,
  sequence: 0,
  known: false,
  gone: false,
  ...more,
});

/** Every other one of the silent and looping agents uses the gateway. */
export const membersOf = (plan: HerdPlan): HerdAgent[] => {
  const { straight, throughHttp, behaviours, fromMs, overMs, name } = plan;
  const named = (count: number, what: string, more: (place: number) => Partial<HerdAgent> = () => ({})) =>
    Array.from({ length: count }, (_, place) => {
      const own = `${name === undefined ? '' : `${name}-`}${what}-${place}`;
      return agent(own, runtimeOf(plan), more(place));
    });
  const failing = (Object.keys(behaviours) as Failure[]).flatMap((behaviour) =>
    named(behaviours[behaviour], behaviour, (place) => ({
      behaviour,
      failsAt: fromMs + (place * overMs) / behaviours[behaviour],
      ingress: place % 2 === 1 ? 'http' : 'kafka',
    })),
  );
  return [...named(straight, 'steady'), ...named(throughHttp, 'web', () => ({ ingress: 'http' })), ...failing];
};
