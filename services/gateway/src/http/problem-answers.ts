import type { Count, Logger } from '@vigil/chassis';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { LARGEST_BODY } from './body.ts';
import { Problem, problemBody } from './problem.ts';

/**
 * A problem that the web framework found, as a Problem. Any other error is a bug of the gateway: the records may or
 * may not have been written.
 */
const problemOf = (error: FastifyError | Problem): Problem => {
  if (error instanceof Problem) return error;
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new Problem(
        413,
        'too_large',
        `the body is larger than ${LARGEST_BODY} bytes: send fewer or smaller heartbeats`,
      );
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new Problem(415, 'not_json', 'the content type is not application/json');
    case 'Z_DATA_ERROR':
    case 'Z_BUF_ERROR':
      return new Problem(400, 'bad_encoding', 'the body is not gzip, as its content-encoding claims');
  }
  if (error.statusCode !== undefined && error.statusCode < 500)
    return new Problem(error.statusCode, 'bad_request', error.message);
  return new Problem(503, 'not_written', 'it is not known whether this was written: send it again');
};

type Answer = (error: FastifyError | Problem, request: FastifyRequest, reply: FastifyReply) => FastifyReply;

/** Answers with problem+json, and logs errors of the gateway. */
export const answerProblems =
  (logger: Logger, count: Count): Answer =>
  (error, { method, url }, reply) => {
    const problem = problemOf(error);
    count('requests_refused', 1, problem.reason.replace(/:.*/, ''));
    if (problem.status >= 500) logger.error({ err: error, method, url }, 'request failed');
    if (problem.status === 401) reply.header('www-authenticate', 'Bearer');
    if (problem.status === 503) reply.header('retry-after', '1');
    // Another connection may lead to an instance that can write.
    if (problem.reason === 'not_written') reply.header('connection', 'close');
    return reply.code(problem.status).type('application/problem+json').send(problemBody(problem));
  };
