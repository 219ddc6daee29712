import { mistakeOf, answerUnreadable as unreadable } from '@vigil/chassis';
import { Unfit } from '@vigil/events';
import { utcTime } from '@vigil/policy';
import type { FastifyError, FastifyReply } from 'fastify';
import type { z } from 'zod';
import { POSTGRES } from './own-health/knowledge.ts';

/** An error answer as RFC 9457 defines it. `type` names the kind for programs. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly status: number;
  readonly type: string;
  readonly field: string | null;
  constructor(status: number, type: string, detail: string, field: string | null = null) {
    super(detail);
    this.status = status;
    this.type = type;
    this.field = field;
  }
  /** further fields of the answer */
  get members(): Readonly<Record<string, string | number>> {
    return this.field === null ? {} : { field: this.field };
  }
}

/** The broker has not acknowledged a command in time, which may still be applied. `limitMs`: milliseconds. */
export class Unconfirmed extends Problem {
  readonly eventId: string;
  constructor(eventId: string, limitMs: number) {
    super(
      504,
      'not_acknowledged',
      `Kafka has not acknowledged the command within ${limitMs / 1000} s. It may still be applied: GET /v1/commands/${eventId} shows what becomes of it. To repeat it, send it unchanged with "eventId": "${eventId}", and it takes effect once.`,
    );
    this.eventId = eventId;
  }
  override get members(): Readonly<Record<string, string>> {
    return { eventId: this.eventId };
  }
}

/** Postgres does not answer. `since`: epoch milliseconds. */
export class ReadModelAway extends Problem {
  readonly since: number;
  readonly part = POSTGRES;
  constructor(since: number, detail: string) {
    super(
      503,
      'read_model_away',
      `Postgres has not answered since ${utcTime(since)} (${detail}), so nothing is known about agents: start it, or correct DATABASE_URL of the dashboard.`,
    );
    this.since = since;
  }
  override get members(): Readonly<Record<string, number | string>> {
    return { since: this.since, part: this.part };
  }
}

/**
 * What is wrong in an input that a schema refused. `whole`: the name of an input without fields; `known`: the fields that it
 * takes, to be named beside an unknown one.
 */
export const badInput = (
  type: string,
  { issues }: z.ZodError,
  input: unknown,
  whole: string,
  known: readonly string[] = [],
): Problem => {
  const [issue] = issues;
  const field = issue?.path.join('.') || whole;
  const mistake = mistakeOf(issue, input);
  const isUnknown = issue?.code === 'unrecognized_keys' && known.length > 0;
  const text = isUnknown
    ? `${issue.keys.map((key) => JSON.stringify(key)).join(', ')} is unknown here: give one of ${known.join(', ')}`
    : mistake;
  return new Problem(400, type, `${field}: ${text}`, field);
};

/** `where`: the command that lists the names. `vigil` adds the nearest name to this sentence. */
const unknown = (kind: string, id: string, where: string): Problem =>
  new Problem(404, `unknown_${kind}`, `${kind} ${JSON.stringify(id)} does not exist; list them with ${where}`);

/** What was looked for. Throws Problem 404 where there is no such thing. */
export const found = <T>(value: T | null | undefined, kind: string, id: string, where: string): T => {
  if (value === null || value === undefined) throw unknown(kind, id, where);
  return value;
};

/** The largest request, bytes. */
export const LARGEST_BODY = 64 * 1024;

/** The message of pg where no connection of its pool is free or can be opened in time. */
const NO_CONNECTION = 'timeout exceeded when trying to connect';

/** The problem that an error is to its caller; null: an internal error, which callers do not see. */
const problemOf = (error: unknown): Problem | null => {
  if (error instanceof Problem) return error;
  if (error instanceof Unfit) return new Problem(400, error.reason, error.message, error.field);
  if (error instanceof Error && error.message === NO_CONNECTION)
    return new Problem(
      503,
      'read_model_busy',
      'Postgres gave no connection in time: try again. `vigil doctor` shows whether it answers.',
    );
  const { statusCode: status, code } = error as Partial<FastifyError>;
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return new Problem(413, 'too_large', `The body is larger than ${LARGEST_BODY} bytes.`);
  return status !== undefined && status < 500 ? new Problem(status, 'bad_request', (error as Error).message) : null;
};

const INTERNAL = new Problem(500, 'failed', 'The dashboard could not answer; its log has the reason. Try again.');

/** Whether the absence of Postgres explains it: an internal error, or no connection to Postgres. */
export const isExplainedByPostgres = (error: unknown): boolean => {
  const problem = problemOf(error);
  return problem === null || problem.type === 'read_model_busy';
};

/** The problem that the caller receives. `onFailure` receives internal errors. */
export const problemFor = (error: unknown, onFailure: (error: unknown) => void): Problem => {
  const problem = problemOf(error);
  if (problem === null) onFailure(error);
  return problem ?? INTERNAL;
};

const MEDIA_TYPE = 'application/problem+json';

const bodyOf = ({ status, type, message, members }: Problem): object => {
  const body = { type: `urn:vigil:${type}`, title: type.replaceAll('_', ' '), status, detail: message };
  return { ...body, ...members };
};

export const sendProblem = (problem: Problem, reply: FastifyReply): FastifyReply =>
  reply
    .code(problem.status)
    .type(MEDIA_TYPE)
    .send(JSON.stringify(bodyOf(problem)));

/** Answers a request that never becomes one. */
export const answerUnreadable = unreadable(({ status, kind, detail }) => bodyOf(new Problem(status, kind, detail)));
