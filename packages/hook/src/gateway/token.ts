import { readFileSync } from 'node:fs';
import type { Environment } from '../session/agents.ts';

/** A file that cannot be read gives no token: the gateway then refuses, and the session works on. */
export const tokenFrom = ({ VIGIL_GATEWAY_TOKEN_FILE: file, VIGIL_GATEWAY_TOKEN: token = '' }: Environment): string => {
  if (!file) return token;
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return '';
  }
};
