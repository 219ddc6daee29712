import type { CommandEntry, OptionEntry } from './tree.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

type Tree = readonly CommandEntry[];

/** The completion script of a shell. Each starts no process, so that Tab answers at once. */
export const scriptOf = (shell: Shell, tree: Tree): string => {
  switch (shell) {
    case 'bash':
      return bash(tree);
    case 'zsh':
      return zsh(tree);
    case 'fish':
      return fish(tree);
  }
};

/** In single quotes, as all three shells read it. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

const valued = (tree: Tree): readonly { readonly path: string; readonly option: OptionEntry }[] =>
  tree.flatMap(({ path, options }) =>
    options.filter(({ takesValue }) => takesValue).map((option) => ({ path, option })),
  );

/** The part that bash and zsh share: `at` becomes the longest known command before the cursor. */
const findPath = (tree: Tree, words: string): string => `  local at='' word
  for word in ${words}; do
    case "$at $word" in
      ${tree.flatMap(({ path }) => (path === '' ? [] : [quoted(` ${path}`)])).join('|')}) at="$at $word" ;;
    esac
  done`;

const bash = (tree: Tree): string => `# bash completion of vigil
_vigil() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" found=''
  COMPREPLY=()
  # bash divides --option=value at the sign
  if [ "$current" = = ]; then
    current=''
  elif [ "$previous" = = ] && [ "$COMP_CWORD" -ge 2 ]; then
    previous="\${COMP_WORDS[COMP_CWORD-2]}"
  fi
${findPath(tree, `"\${COMP_WORDS[@]:1:COMP_CWORD-1}"`)}
  case "$at $previous" in
${valued(tree)
  .map(({ path, option }) => `    ${quoted(pathAnd(path, option.name))}) found=${quoted(option.choices.join(' '))} ;;`)
  .join('\n')}
    *)
      case "$at" in
${tree.map((entry) => `        ${quoted(spaced(entry.path))}) found=${quoted(all(entry))} ;;`).join('\n')}
      esac
      ;;
  esac
  [ -n "$found" ] && COMPREPLY=($(compgen -W "$found" -- "$current"))
}
complete -o default -F _vigil vigil`;

const spaced = (path: string): string => (path === '' ? '' : ` ${path}`);
const pathAnd = (path: string, option: string): string => `${spaced(path)} ${option}`;
const all = ({ words, options }: CommandEntry): string =>
  [...words.map(({ word }) => word), ...options.map(({ name }) => name)].join(' ');

/** \`name:description\`, as _describe reads it. */
const described = (name: string, description: string): string =>
  quoted(`${name.replaceAll(':', '\\:')}:${description}`);

const zsh = (tree: Tree): string => `#compdef vigil
_vigil() {
  local -a found
${findPath(tree, `"\${(@)words[2,CURRENT-1]}"`)}
  case "$at \${words[CURRENT-1]}" in
${valued(tree)
  .map(({ path, option: { name, choices } }) => {
    const action = choices.length === 0 ? '_files' : `compadd -- ${choices.map(quoted).join(' ')}`;
    return `    ${quoted(pathAnd(path, name))}) ${action}; return ;;`;
  })
  .join('\n')}
  esac
  case "$at" in
${tree
  .map(({ path, words, options }) => {
    const entries = [
      ...words.map(({ word, description }) => described(word, description)),
      ...options.map(({ name, description }) => described(name, description)),
    ];
    return `    ${quoted(spaced(path))}) found=(${entries.join(' ')}) ;;`;
  })
  .join('\n')}
  esac
  _describe vigil found || _files
}
if [ "$funcstack[1]" = _vigil ]; then _vigil "$@"; else compdef _vigil vigil; fi`;

const fish = (tree: Tree): string => `# fish completion of vigil
function __vigil_at
  set -l at ''
  for word in (commandline -opc)[2..-1]
    switch "$at $word"
      case ${tree.flatMap(({ path }) => (path === '' ? [] : [quoted(` ${path}`)])).join(' ')}
        set at "$at $word"
    end
  end
  test "$at" = "$argv[1]"
end
complete -c vigil -e
${tree.flatMap(({ path, words, options }) => fishLines(path, words, options)).join('\n')}`;

const fishLines = (path: string, words: CommandEntry['words'], options: readonly OptionEntry[]): readonly string[] => {
  const here = `complete -c vigil -n "__vigil_at ${quoted(spaced(path))}"`;
  return [
    ...words.map(({ word, description }) => `${here} -f -a ${quoted(word)} -d ${quoted(description)}`),
    ...options.map(({ name, description, takesValue, choices }) => {
      const value = takesValue ? ` -r${choices.length === 0 ? '' : ` -f -a ${quoted(choices.join(' '))}`}` : '';
      return `${here} -l ${quoted(name.replace(/^--/, ''))}${value} -d ${quoted(description)}`;
    }),
  ];
};
