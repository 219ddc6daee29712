import { request as plain } from 'node:http';
import { request as secure } from 'node:https';

/** `status` 0: no answer within the time for it. */
export type Reply = { readonly status: number; readonly body: unknown };

const noReply: Reply = { status: 0, body: null };

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

/** Posts JSON; never throws. */
export const post = (url: string, token: string, body: unknown, withinMs: number): Promise<Reply> =>
  new Promise((resolve) => {
    const where = new URL(url);
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const asking = (where.protocol === 'https:' ? secure : plain)(where, { method: 'POST', headers, agent: false });
    const giveUp = setTimeout(() => asking.destroy(), withinMs);
    const answered = (reply: Reply): void => {
      clearTimeout(giveUp);
      resolve(reply);
    };
    asking.on('error', () => answered(noReply)).on('close', () => answered(noReply));
    asking.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        answered({ status: response.statusCode ?? 0, body: parsed(Buffer.concat(chunks).toString('utf8')) }),
      );
    });
    asking.end(JSON.stringify(body));
  });
