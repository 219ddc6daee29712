import { createHash, timingSafeEqual } from 'node:crypto';
import { ID } from '@vigil/events';
import { type Bearer, gatewayToken } from '@vigil/events/gateway-token';
import { Problem } from './problem.ts';

/** Who shows a token: the operator may everything, any other what concerns its own name. */
export type Principal = { readonly kind: 'operator' } | Bearer;

const OPERATOR: Principal = { kind: 'operator' };
/** The name may have dots, the mac has none. */
const BOUND = /^Bearer v1\.(runtime|agent)\.(.+)\.[^.]+$/;

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
const same = (one: string, other: string): boolean => timingSafeEqual(digest(one), digest(other));

/**
 * Returns the principal of an Authorization header, in constant time. `secret`: signs tokens that bind a name;
 * without it only `token`, the operator's, is valid. Throws Problem.
 */
export const guard = (
  token: string,
  secret: string | undefined,
): ((authorization: string | undefined) => Principal) => {
  const operatorHeader = `Bearer ${token}`;
  return (authorization = '') => {
    if (same(authorization, operatorHeader)) return OPERATOR;
    const bearer = claimed(authorization);
    if (bearer !== null && secret !== undefined && same(authorization, `Bearer ${gatewayToken(secret, bearer)}`))
      return bearer;
    throw new Problem(
      401,
      'bad_token',
      'the request needs the header "Authorization: Bearer <token>", with VIGIL_GATEWAY_TOKEN or what `vigil token` prints',
    );
  };
};

const claimed = (authorization: string): Bearer | null => {
  const [, kind, name = ''] = BOUND.exec(authorization) ?? [];
  return (kind === 'runtime' || kind === 'agent') && ID.test(name) ? { kind, name } : null;
};
