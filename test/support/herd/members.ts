import type { Fate, HerdAgent } from './agent.ts';

export type Doomed = Exclude<Fate, 'works'>;

export type HerdPlan = {
  /** separates several herds on one system: it precedes each agent's name, and `<name>-host` is its runtime */
  readonly name?: string;
  /** the transport of its order executor; default: kafka */
  readonly executor?: 'kafka' | 'gateway';
  /** agents that continue to work, directly to Kafka and through the gateway */
  readonly straight: number;
  readonly throughHttp: number;
  /** the number of agents of each behaviour, whose starts are spread evenly over `overMs` from `fromMs` on */
  readonly fates: Readonly<Record<Doomed, number>>;
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
  fate: 'works',
  fatefulAt: Number.POSITIVE_INFINITY,
  attempt: null,
  sequence: 0,
  gone: false,
  ...more,
});

/** Every other one of the silent and looping agents uses the gateway. */
export const membersOf = (plan: HerdPlan): HerdAgent[] => {
  const { straight, throughHttp, fates, fromMs, overMs, name } = plan;
  const named = (count: number, what: string, more: (place: number) => Partial<HerdAgent> = () => ({})) =>
    Array.from({ length: count }, (_, place) => {
      const own = `${name === undefined ? '' : `${name}-`}${what}-${place}`;
      return agent(own, runtimeOf(plan), more(place));
    });
  const doomed = (Object.keys(fates) as Doomed[]).flatMap((fate) =>
    named(fates[fate], fate, (place) => ({
      fate,
      fatefulAt: fromMs + (place * overMs) / fates[fate],
      ingress: place % 2 === 1 ? 'http' : 'kafka',
    })),
  );
  return [...named(straight, 'steady'), ...named(throughHttp, 'web', () => ({ ingress: 'http' })), ...doomed];
};
