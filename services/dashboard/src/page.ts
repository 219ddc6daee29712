import { createHash } from 'node:crypto';
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

/** The only style of these pages. Its lines are as wide as a phone. */
const STYLE = `
:root { color-scheme: light dark; }
body {
  max-width: 40rem; margin: 0 auto; padding: 1.5rem 1rem;
  background: light-dark(#f5f6f8, #0e1318); color: light-dark(#17202a, #e4e9ef);
  font: 1rem/1.5 ui-sans-serif, system-ui, sans-serif; overflow-wrap: anywhere;
}
h1 { margin: 0 0 .5rem; font-size: 1.4rem; line-height: 1.25; }
dl {
  margin: 1rem 0; padding: .75rem 1rem; border: 1px solid light-dark(#d5dbe2, #28323d);
  border-radius: 6px; background: light-dark(#ffffff, #151b22);
}
dl:empty { display: none; }
dt { color: light-dark(#52606d, #9ba8b6); font-size: .85rem; }
dd { margin: 0 0 .5rem; }
label { display: block; }
input {
  display: block; box-sizing: border-box; width: 100%; padding: .5rem;
  border: 1px solid light-dark(#7d8996, #5f6d7c); border-radius: 6px;
  background: light-dark(#ffffff, #151b22); color: inherit; font: inherit;
}
button {
  max-width: 100%; min-height: 2.75rem; padding: .5rem 1rem; border: 0; border-radius: 6px;
  background: light-dark(#0a5cbd, #74b6ff); color: light-dark(#ffffff, #08121d);
  font: inherit; font-weight: 600; overflow-wrap: anywhere; cursor: pointer;
}
`;

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** A page of this form has no script, no image and one style, and only its own form may be sent. It gives its address to no other site. */
const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': [
    "default-src 'none'",
    `style-src 'sha256-${STYLE_HASH}'`,
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; '),
  'referrer-policy': 'no-referrer',
};

type Page = {
  readonly title: string;
  readonly text: string;
  readonly facts: Readonly<Record<string, string>>;
  /** of the button that posts to the address of the page; null: there is no form */
  readonly button: string | null;
};

const WHY = '<p><label>Reason (optional) <input name="why" maxlength="2000"></label></p>';

const htmlOf = ({ title, text, facts, button }: Page): string => {
  const rows = Object.entries(facts).map(([name, value]) => `<dt>${escaped(name)}</dt><dd>${escaped(value)}</dd>`);
  const form = button === null ? '' : `<form method="post">${WHY}<button>${escaped(button)}</button></form>`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(title)}</title><style>${STYLE}</style></head>
<body><h1>${escaped(title)}</h1><p>${escaped(text)}</p><dl>${rows.join('')}</dl>${form}</body></html>
`;
};

export const sendPage = (reply: FastifyReply, status: number, page: Page): FastifyReply =>
  reply.code(status).headers(PAGE_HEADERS).send(htmlOf(page));

export const wantsPage = ({ headers }: FastifyRequest): boolean => headers.accept?.includes('text/html') ?? false;
