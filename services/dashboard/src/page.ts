import { markHidden } from '@vigil/read-model/hidden-text';
import type { FastifyReply, FastifyRequest } from 'fastify';

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Agents wrote some of the text: it must neither become markup, nor turn the text around it, nor hide. */
const escaped = (text: string): string =>
  markHidden(text)
    .replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029\u{e0000}-\u{e007f}]+/gu, ' ')
    .replace(/[&<>"']/g, (one) => ENTITIES[one] ?? '');

/** A page of this form has no script, no style and no image, and only its own form may be sent. It gives its address to no other site. */
const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'referrer-policy': 'no-referrer',
};

type Page = {
  readonly title: string;
  readonly text: string;
  readonly facts: Readonly<Record<string, string>>;
  /** of the button that posts to the address of the page; null: there is no form */
  readonly button: string | null;
};

const WHY = '<p><label>Reason <input name="why" maxlength="2000"></label></p>';

const htmlOf = ({ title, text, facts, button }: Page): string => {
  const rows = Object.entries(facts).map(([name, value]) => `<dt>${escaped(name)}</dt><dd>${escaped(value)}</dd>`);
  const form = button === null ? '' : `<form method="post">${WHY}<button>${escaped(button)}</button></form>`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(title)}</title></head>
<body><h1>${escaped(title)}</h1><p>${escaped(text)}</p><dl>${rows.join('')}</dl>${form}</body></html>
`;
};

export const sendPage = (reply: FastifyReply, status: number, page: Page): FastifyReply =>
  reply.code(status).headers(PAGE_HEADERS).send(htmlOf(page));

export const wantsPage = ({ headers }: FastifyRequest): boolean => headers.accept?.includes('text/html') ?? false;
