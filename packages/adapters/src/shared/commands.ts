/** What comes before the name of a program in a shell command: the start, a separator, or a keyword. */
const START = String.raw`(?:^|[;&|({!\n\`]|\b(?:then|do|else|if|elif|while|until)\b)\s*`;
const VALUE = String.raw`(?:"[^"]*"|'[^']*'|[^\s"']*)`;

/** Programs that run the program after them, with their options. */
const WRAPPERS: readonly string[] = [
  String.raw`[A-Za-z_]\w*=${VALUE}`,
  String.raw`env(?:\s+-(?:u\s*\w+|[i0v]+))*`,
  String.raw`timeout(?:\s+(?:-[ks]\s*\w+|--\S+))*\s+[\d.]+[smhd]?`,
  String.raw`(?:sudo|doas)(?:\s+(?:-u\s*\w+|-[A-Za-z]+))*`,
  String.raw`nice(?:\s+-n?\s*-?\d+)?`,
  String.raw`(?:stdbuf|ionice|setsid|time|command)(?:\s+-\w+)*`,
  String.raw`(?:nohup|exec|unbuffer|uv\s+run|poetry\s+run|pipenv\s+run|bundle\s+exec|pnpm\s+exec|npx(?:\s+-y|\s+--yes)?)`,
  String.raw`docker\s+(?:compose\s+)?exec(?:\s+-\w+)*\s+[\w.-]+`,
];
/** A shell whose argument is a command. The quotation mark before the command is a part of it. */
const SHELL = String.raw`(?:\S*/)?(?:ba|da|z|k)?sh(?:\s+-[a-z]+)*\s+-[a-z]*c\s+\$?["']?\s*`;

/** A pattern for a shell command that runs one of these programs, by itself or in a wrapper. */
export const running = (programs: readonly string[]): RegExp =>
  new RegExp(`${START}(?:(?:${WRAPPERS.join('|')})\\s+|${SHELL})*(?:\\S*/)?(?:${programs.join('|')})`);

/** The first characters of a command that are searched; the rest is mostly the text of a file. */
const SEARCHED = 2000;

export const runs = (command: unknown, pattern: RegExp): boolean =>
  typeof command === 'string' && pattern.test(command.slice(0, SEARCHED));
