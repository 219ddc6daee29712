import { z } from 'zod';

/** Controls, and the marks that override or embed a direction of text. */
const CONTROL = String.raw`\p{Cc}\u202a-\u202e\u2066-\u2069`;

/** Names the first refused character, which most screens do not show. */
const refused = (control: RegExp) => ({
  error: ({ input }: { readonly input?: unknown }): string => {
    const code = control.exec(String(input))?.[0].codePointAt(0) ?? 0;
    return `has the control character U+${code.toString(16).toUpperCase().padStart(4, '0')}: leave it out`;
  },
});

/** Who writes a command: a name, without control characters. */
export const byText = z
  .string()
  .max(200)
  .regex(new RegExp(`^[^${CONTROL}]*$`, 'u'), refused(new RegExp(`[${CONTROL}]`, 'u')));

/** Why a command is written: as `byText`, with line breaks and tabs. */
export const whyText = z
  .string()
  .max(2000)
  .regex(new RegExp(`^(?:[^${CONTROL}]|[\\n\\t])*$`, 'u'), refused(new RegExp(`(?![\\n\\t])[${CONTROL}]`, 'u')));
