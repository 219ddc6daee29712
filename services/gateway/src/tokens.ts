import { createHash, timingSafeEqual } from 'node:crypto';
import { Problem } from './problem.ts';

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Checks an Authorization header in a time that tells nothing about the token. Throws Problem. */
export const guard = (token: string): ((authorization: string | undefined) => void) => {
  const wanted = digest(`Bearer ${token}`);
  return (authorization) => {
    if (timingSafeEqual(digest(authorization ?? ''), wanted)) return;
    throw new Problem(401, 'bad_token', 'the request needs the header "Authorization: Bearer <VIGIL_GATEWAY_TOKEN>"');
  };
};
