import { createSecretKey } from 'node:crypto';
import { errors, jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';

/** The commands that a link may give, and the names of their fields. `answer` null: the command is the answer. */
export const LINK_FIELDS = {
  decide_case: { subject: 'caseId', answer: 'decision' },
  review_task: { subject: 'taskId', answer: 'decision' },
  answer_request: { subject: 'requestId', answer: 'option' },
  acknowledge: { subject: 'alertId', answer: null },
} as const satisfies Readonly<Record<string, { readonly subject: string; readonly answer: string | null }>>;

/** The answer that a link permits: one choice on one question. Times are epoch milliseconds. */
export type DecisionLink = {
  readonly kind: keyof typeof LINK_FIELDS;
  /** the id of the case, of the task, of the request, or of the alert */
  readonly subject: string;
  readonly decision: string;
  /** the channel that received it */
  readonly channel: string;
  /** of the question; null: it waits for ever */
  readonly deadlineAt: number | null;
  /** when the alert with the link was written. A later question is not the one that it answers */
  readonly sentAt: number;
};

/** The link is not one that this key has signed. */
export class InvalidLink extends Error {
  override readonly name = 'InvalidLink';
}

export class ExpiredLink extends Error {
  override readonly name = 'ExpiredLink';
}

/** A link expires with its question, and after this time, milliseconds. */
export const LONGEST_LINK_MS = 24 * 3_600_000;
const ALGORITHM = 'HS256';
/** So no other token that this key may have signed is a link. */
const PARTIES = { issuer: 'vigil-alerting', audience: 'vigil-dashboard' } as const;

const payloadForm = z.object({
  kind: z.enum(['decide_case', 'review_task', 'answer_request', 'acknowledge']),
  sub: z.string(),
  decision: z.string(),
  channel: z.string(),
  deadlineAt: z.int().nullable(),
  sentAt: z.int(),
});

/** `VIGIL_LINK_KEY`, which alerting and the dashboard share: as many characters as a SHA-256 has bytes. */
export const linkKey: z.ZodString = z
  .string()
  .min(
    32,
    'give the key of decision links: the same random text of at least 32 characters for alerting and the dashboard',
  )
  .meta({
    values: 'text, at least 32 characters',
    isSecret: true,
    description:
      'Alerting signs the links of decisions with it, and the dashboard verifies them; without it alerts have no links.',
  });

const keyOf = (key: string) => createSecretKey(Buffer.from(key));

const expiryOf = ({ deadlineAt, sentAt }: DecisionLink): number =>
  Math.min(deadlineAt ?? Number.POSITIVE_INFINITY, sentAt + LONGEST_LINK_MS);

/** The token of a link. It is the same for the same link, so a repeated delivery contains no second one. */
export const signLink = (key: string, link: DecisionLink): Promise<string> => {
  const { subject, ...rest } = link;
  return new SignJWT(rest)
    .setProtectedHeader({ alg: ALGORITHM })
    .setIssuer(PARTIES.issuer)
    .setAudience(PARTIES.audience)
    .setSubject(subject)
    .setExpirationTime(Math.floor(expiryOf(link) / 1000))
    .sign(keyOf(key));
};

/** Rejects with InvalidLink or ExpiredLink. `now`: epoch milliseconds */
export const verifyLink = async (key: string, token: string, now: number): Promise<DecisionLink> => {
  const options = { ...PARTIES, algorithms: [ALGORITHM], requiredClaims: ['exp'], currentDate: new Date(now) };
  const { payload } = await jwtVerify(token, keyOf(key), options).catch((cause: unknown) => {
    if (cause instanceof errors.JWTExpired)
      throw new ExpiredLink(`it expired at ${new Date((cause.payload.exp ?? 0) * 1000).toISOString()}`, { cause });
    throw new InvalidLink('it is not one that alerting has signed with this key', { cause });
  });
  const { success, data } = payloadForm.safeParse(payload);
  if (!success) throw new InvalidLink('it was made by another version');
  const { sub: subject, ...rest } = data;
  return { ...rest, subject };
};
