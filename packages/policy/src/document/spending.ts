import { z } from 'zod';
import { matches } from '../values/template-fit.ts';

const money = z.number().positive();

/** Limits of use: tokens of all kinds together, and US dollars. */
const limit = z
  .strictObject({ tokens: z.int().min(1).nullable().default(null), usd: money.nullable().default(null) })
  .nullable()
  .default(null);

/** US dollars for a million tokens. */
const price = z.strictObject({
  input: money,
  output: money,
  cache_read: money.nullable().default(null),
  cache_write: money.nullable().default(null),
});

/** The spending limits of a policy as people write them. */
export const spendingDocument = z
  .strictObject({
    agent: limit,
    task: limit,
    /** of all agents that the policy judges, from midnight to midnight UTC */
    day: limit,
    /** by model; `*` matches any text */
    prices: z.record(z.string(), price).default({}),
    /** `reported`: the clients report their cost themselves */
    cost: z.enum(['reported']).nullable().default(null),
  })
  .superRefine(({ agent, task, day, prices, cost }, context) => {
    const named = Object.entries({ agent, task, day }).filter(([, one]) => one !== null && one.usd !== null);
    if (cost !== null || Object.keys(prices).length > 0) return;
    for (const [scope] of named)
      context.addIssue({
        code: 'custom',
        path: [scope, 'usd'],
        message:
          'money is not known: list the prices of your models (spending.prices), or write cost: reported where every client reports its cost',
      });
  });

export type Spending = z.output<typeof spendingDocument>;
export type SpendingLimit = NonNullable<Spending['agent']>;

/** Tokens of one model, as a heartbeat reports them. */
export type ModelTokens = {
  readonly model: string | null;
  readonly input_tokens: number;
  readonly cache_read_tokens: number;
  readonly cache_write_tokens: number;
  readonly output_tokens: number;
};

/** The use that a client reports. Null, and an empty list of models, mean unknown. */
export type Used = {
  readonly tokens: number | null;
  readonly usage: readonly ModelTokens[];
  readonly costUsd: number | null;
};

/** Null: unknown. */
export type Spent = { readonly tokens: number | null; readonly usd: number | null };

const PER_MILLION = 1e6;

/** Null: no price fits the model. */
const priceOf = ({ prices }: Spending, tokens: ModelTokens): number | null => {
  const { model } = tokens;
  const found = model === null ? undefined : Object.entries(prices).find(([pattern]) => matches(pattern, model))?.[1];
  if (found === undefined) return null;
  const { input, output, cache_read: read, cache_write: write } = found;
  const cost =
    tokens.input_tokens * input +
    tokens.output_tokens * output +
    tokens.cache_read_tokens * (read ?? input) +
    tokens.cache_write_tokens * (write ?? input);
  return cost / PER_MILLION;
};

const limitsMoney = ({ agent, task, day }: Spending): boolean =>
  [agent, task, day].some((one) => one !== null && one.usd !== null);

/** Why limited money is unknown, in words; null if it is known, no money is limited, or nothing is used yet. */
export const unknownCost = (spending: Spending, used: Used): string | null => {
  const { tokens, usage, costUsd } = used;
  const isUnused = tokens === null && usage.length === 0 && costUsd === null;
  if (isUnused || !limitsMoney(spending) || spentOf(spending, used).usd !== null) return null;
  if (Object.keys(spending.prices).length === 0) return 'its client reports no cost; list prices in spending.prices';
  if (usage.length === 0) return 'it does not report its tokens by model';
  const model = usage.find((one) => one.model !== null && priceOf(spending, one) === null)?.model;
  if (model === undefined || model === null)
    return 'it reports tokens of a model without a name, or of too many models';
  return `no price fits model ${JSON.stringify(model)}; add one to spending.prices`;
};

/**
 * The use of an instance so far. Money follows from the policy's prices if it lists some, else from the client's
 * report.
 */
export const spentOf = (spending: Spending, { tokens, usage, costUsd }: Used): Spent => {
  if (Object.keys(spending.prices).length === 0) return { tokens, usd: spending.cost === null ? null : costUsd };
  const costs = usage.map((one) => priceOf(spending, one));
  const isKnown = usage.length > 0 && costs.every((cost) => cost !== null);
  return { tokens, usd: isKnown ? costs.reduce<number>((sum, cost) => sum + (cost ?? 0), 0) : null };
};

/**
 * The reached part of a limit, in words; null if no limit is known to be reached. A limit is reached when it is used
 * exactly.
 */
export const limitReached = (limits: SpendingLimit | null, { tokens, usd }: Spent): string | null => {
  if (limits === null) return null;
  if (limits.tokens !== null && tokens !== null && tokens >= limits.tokens)
    return `${tokens} of ${limits.tokens} tokens are used`;
  if (limits.usd !== null && usd !== null && usd >= limits.usd)
    return `${usd.toFixed(2)} of ${limits.usd.toFixed(2)} US dollars are used`;
  return null;
};

/** The hook's answer to a call that a limit refuses. `whose`: agent worker-1, task OMN-1, the day of policy vigil. */
export const refusalFor = (whose: string, reached: string): string =>
  `Vigil: the spending limit of ${whose} is reached: ${reached}. Write down what is done and what is left, and stop; a person decides whether you continue.`;
