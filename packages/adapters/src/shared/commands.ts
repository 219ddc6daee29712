/** What comes before the name of a program in a shell command: the start, a separator, or a keyword. */
const START = String.raw`(?:^|[;&|({!\n\`]|\b(?:then|do|else|if|elif|while|until)\b)\s*`;
const VALUE = String.raw`(?:"[^"]*"|'[^']*'|[^\s"']*)`;

/** A word that is not an option. */
const WORD = String.raw`(?:"[^"]*"|'[^']*'|[^\s"'-][^\s"']*)`;
/** Options of any program: each may have a value. */
const OPTIONS = String.raw`(?:\s+--?\w[\w-]*(?:=${VALUE}|\s+${WORD})?)*`;

/** Programs that run the program after them, with their options. */
const WRAPPERS: readonly string[] = [
  String.raw`[A-Za-z_]\w*=${VALUE}`,
  String.raw`env(?:\s+-(?:u\s*\w+|[i0v]+))*`,
  String.raw`timeout(?:\s+(?:-[ks]\s*\w+|--\S+))*\s+[\d.]+[smhd]?`,
  String.raw`(?:sudo|doas)(?:\s+(?:-u\s*\w+|-(?!u)[A-Za-z]+))*`,
  String.raw`nice(?:\s+-n?\s*-?\d+)?`,
  String.raw`(?:stdbuf|ionice|setsid|time|command)(?:\s+-\w+)*`,
  String.raw`(?:nohup|exec|unbuffer|xvfb-run(?:\s+-\w+)*|bundle\s+exec|pnpm\s+exec|npx(?:\s+-y|\s+--yes)?)`,
  String.raw`(?:(?:uv|poetry|pipenv|pdm|hatch|rye)\s+run|conda\s+run)${OPTIONS}`,
  String.raw`(?:docker|podman)(?:\s+|-)(?:compose${OPTIONS}\s+)?(?:exec|run)${OPTIONS}\s+${WORD}`,
  String.raw`(?:kubectl|oc)${OPTIONS}\s+exec(?:\s+(?!--\s)[^\s;&|]+)*\s+--`,
  String.raw`nix\s+(?:develop|shell)(?:\s+(?!(?:-c|--command)\s)[^\s;&|]+)*\s+(?:-c|--command)`,
];
/** A program on another machine, or a shell there, runs the rest of the line, which may be quoted. */
const SSH = String.raw`ssh(?:\s+-(?:[bcDEeFIiJLlmOopQRSWw]\s*${WORD}|[46AaCfGgKkMNnqsTtVvXxYy]+))*\s+${WORD}(?:\s+--)?\s+\$?["']?\s*`;
const NIX_SHELL = String.raw`nix-shell(?:\s+(?!--(?:run|command)\s)[^\s;&|]+)*\s+--(?:run|command)\s+["']?\s*`;
/** A shell whose argument is a command. The quotation mark before the command is a part of it. */
const SHELL = String.raw`(?:\S*/)?(?:ba|da|z|k)?sh(?:\s+-[a-z]+)*\s+-[a-z]*c\s+\$?["']?\s*`;

/** A pattern for a shell command that runs one of these programs, by itself or in a wrapper. */
export const running = (programs: readonly string[]): RegExp =>
  new RegExp(
    `${START}(?:(?:${WRAPPERS.join('|')})\\s+|${SHELL}|${SSH}|${NIX_SHELL})*(?:\\S*/)?(?:${programs.join('|')})`,
  );

/** The first characters of a command that are searched; the rest is mostly the text of a file. */
const SEARCHED = 2000;

export const runs = (command: unknown, pattern: RegExp): boolean =>
  typeof command === 'string' && pattern.test(command.slice(0, SEARCHED));
