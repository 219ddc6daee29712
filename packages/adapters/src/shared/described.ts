/** Characters of a request's text. */
const LONGEST = 1000;
const LONGEST_VALUE = 600;

/** Values that look like secrets, by the name before them or by their own form. */
const SECRETS: readonly (readonly [pattern: RegExp, by: string])[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, '[redacted]'],
  [/\b(authorization["']?\s*[:=]\s*["']?(?:bearer|basic|token)\s+)[^\s"',;]+/gi, '$1[redacted]'],
  [/\b(bearer\s+)[A-Za-z0-9._~+/=-]{8,}/gi, '$1[redacted]'],
  [
    /((?:^|[^a-z])[a-z0-9_-]*(?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credentials?)["']?\s*[:=]\s*)(?:"[^"]*"|'[^']*'|[^\s"',;&]+)/gi,
    '$1[redacted]',
  ],
  [/(\s--?(?:password|passwd|token|secret|api-key|access-key)(?:\s+|=))(?:"[^"]*"|'[^']*'|\S+)/gi, '$1[redacted]'],
  [/(\s(?:-u|--user)\s+[^\s:'"]+:)[^\s'"]+/g, '$1[redacted]'],
  [/\b([a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:)[^\s/@]+@/gi, '$1[redacted]@'],
  [/\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}/g, '[redacted]'],
  [/\b(?:ghp|gho|ghu|ghs|ghr|glpat|xox[abprs])[-_][A-Za-z0-9_-]{10,}/g, '[redacted]'],
  [/\bgithub_pat_[A-Za-z0-9_]{20,}/g, '[redacted]'],
  [/\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, '[redacted]'],
  [/\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/g, '[redacted]'],
];

/** A text without the values that look like secrets. */
export const redacted = (text: string): string => SECRETS.reduce((so, [pattern, by]) => so.replace(pattern, by), text);

/** Cuts between characters, and shows that something is left out. */
const cut = (text: string, most: number): string =>
  text.length <= most
    ? text
    : `${text
        .slice(0, most - 1)
        .toWellFormed()
        .replace(/\uFFFD$/, '')}…`;

/** A long text is redacted before it is cut, so that no half of a secret is left. */
const SEARCHED = 20_000;

/** A text of an agent for people: without secrets and control characters, and short. */
export const forPeople = (text: string): string =>
  cut(
    redacted(text.slice(0, SEARCHED))
      .replace(/[\p{Cc}\p{Cf}]+/gu, ' ')
      .trim(),
    LONGEST,
  );

const LONGEST_LABEL = 200;
const LONGEST_DESCRIPTION = 300;
const LONGEST_PREVIEW = 1000;

/** What an option of a question is called, for people: as `forPeople`, and shorter. */
export const labelForPeople = (text: string): string => cut(forPeople(text), LONGEST_LABEL);

/** What an option of a question means, for people: as `forPeople`, and shorter. */
export const descriptionForPeople = (text: string): string => cut(forPeople(text), LONGEST_DESCRIPTION);

/** A preview of an option, for people: its lines stay. */
export const previewForPeople = (text: string): string =>
  cut(redacted(text.slice(0, SEARCHED)).replace(/[^\P{C}\n\t]+/gu, ' '), LONGEST_PREVIEW);

const valueText = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));

/** A call in words: its tool, its command or file, else its arguments. */
export const describedCall = (tool: string, args: unknown): string => {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return forPeople(tool);
  const { command, file_path: file, url, description, ...others } = args as Readonly<Record<string, unknown>>;
  const main = command ?? file ?? url;
  if (main !== undefined) {
    const reason = typeof description === 'string' && description !== '' ? ` (${description})` : '';
    return forPeople(`${tool}: ${valueText(main)}${reason}`);
  }
  const named = Object.entries(others).map(
    ([name, value]) => `${name}=${cut(redacted(valueText(value)), LONGEST_VALUE)}`,
  );
  return forPeople(named.length === 0 ? tool : `${tool}: ${named.join(', ')}`);
};
