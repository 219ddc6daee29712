import { isIP } from 'node:net';

/** The name or address in a Host header, lower-case and without the port; null: it is not one. */
const nameIn = (header: string): string | null => {
  const address = `http://${header}`;
  if (/[/?#@\\]/.test(header) || !URL.canParse(address)) return null;
  return new URL(address).hostname.replace(/^\[(.*)\]$/, '$1');
};

/**
 * Whether a Host header names this server. A web page can resolve its own name to this server's address (DNS rebinding), and then the
 * browser sends the page's name. An IP address cannot be resolved to another, so each is accepted.
 * `names`: those of this server, lower-case
 */
export const isAcceptedHost = (header: string | undefined, names: readonly string[]): boolean => {
  const name = nameIn(header ?? '');
  if (name === null) return false;
  return isIP(name) !== 0 || name === 'localhost' || name.endsWith('.localhost') || names.includes(name);
};
