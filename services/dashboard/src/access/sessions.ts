/** A link works once, within this time, milliseconds. */
const LINK_MS = 5 * 60_000;
/** Links of one token that wait to be used; a further one replaces the oldest. */
export const MOST_LINKS = 5;
export const SESSION_MS = 12 * 3_600_000;

/** A session of a browser is valid for as long as the token of its link. Times are epoch milliseconds. */
export type Session = { readonly tokenHash: string; readonly expiresAt: number; readonly id: string };

export type LoginLink = { readonly code: string; readonly expiresAt: number };

export type Sessions = {
  /** Signs the cookies. Each process has its own, so that no restart revives a session that a logout has ended. */
  readonly cookieKey: string;
  readonly createLink: (tokenHash: string) => LoginLink;
  /** the session of a link that has not been used; null: the code is unknown, used or expired */
  readonly begin: (code: string) => Session | null;
  /** the session in a cookie whose signature is verified; null: it has ended */
  readonly read: (text: string) => Session | null;
  readonly end: (session: Session) => void;
};

/** `random`: text that cannot be guessed. `now`: epoch milliseconds. */
export type SessionDeps = { readonly random: () => string; readonly now: () => number };

export const sessionText = ({ tokenHash, expiresAt, id }: Session): string => [tokenHash, expiresAt, id].join('.');

const parseSession = (text: string): Session | null => {
  const [tokenHash = '', expires, id = ''] = text.split('.');
  const expiresAt = Number(expires);
  return Number.isSafeInteger(expiresAt) ? { tokenHash, expiresAt, id } : null;
};

/** Login links and sessions. The cookie contains the session; only links and ended sessions are in memory. */
export const openSessions = ({ random, now }: SessionDeps): Sessions => {
  const links = new Map<string, Omit<LoginLink, 'code'> & { readonly tokenHash: string }>();
  const ended = new Map<string, Session>();

  const forgetExpired = (): void => {
    for (const held of [links, ended])
      for (const [key, { expiresAt }] of held) if (expiresAt <= now()) held.delete(key);
  };

  return {
    cookieKey: random(),
    createLink: (tokenHash) => {
      forgetExpired();
      const own = [...links].filter(([, link]) => link.tokenHash === tokenHash);
      for (const [code] of own.slice(0, Math.max(0, own.length - MOST_LINKS + 1))) links.delete(code);
      const code = random();
      const expiresAt = now() + LINK_MS;
      links.set(code, { tokenHash, expiresAt });
      return { code, expiresAt };
    },
    begin: (code) => {
      forgetExpired();
      const link = links.get(code);
      if (link === undefined) return null;
      links.delete(code);
      return { tokenHash: link.tokenHash, expiresAt: now() + SESSION_MS, id: random() };
    },
    read: (text) => {
      const session = parseSession(text);
      return session === null || session.expiresAt <= now() || ended.has(session.id) ? null : session;
    },
    end: (session) => {
      forgetExpired();
      ended.set(session.id, session);
    },
  };
};
