import type { CommandEntry, OptionEntry } from './tree.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

type Tree = readonly CommandEntry[];

/** The completion script of a shell. Only names come from the dashboard: for the rest it starts no process, so that Tab answers at once. */
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

/** Prints the names of a kind, a line each; without a dashboard that answers, none. `vigil` may be an alias or a function. */
const NAMES = 'vigil complete';

/** In single quotes, as all three shells read it. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

const valued = (tree: Tree): readonly { readonly path: string; readonly option: OptionEntry }[] =>
  tree.flatMap(({ path, options }) =>
    options.filter(({ takesValue }) => takesValue).map((option) => ({ path, option })),
  );

/** The commands whose first argument is a name that the dashboard has. */
const naming = (tree: Tree): readonly Pick<CommandEntry, 'path' | 'names'>[] =>
  tree.filter(({ names }) => names !== null);

const paths = (tree: Tree): readonly string[] => tree.flatMap(({ path }) => (path === '' ? [] : [quoted(` ${path}`)]));

/** The part that bash and zsh share: `at` becomes the longest known command before the cursor, `given` counts the words after it that are not options. */
const findPath = (tree: Tree, words: string): string => `  local at='' given=0 word
  for word in ${words}; do
    case "$at $word" in
      ${paths(tree).join('|')}) at="$at $word" ;;
      *" "-*) ;;
      *) given=$((given + 1)) ;;
    esac
  done`;

const bash = (tree: Tree): string => `# bash completion of vigil
_vigil() {
  # bash divides words at signs such as = and :, which names and options have
  local whole="\${COMP_LINE:0:COMP_POINT}" replaced="\${COMP_WORDS[COMP_CWORD]}" current='' previous found='' kind='' name
  local -a words
  COMPREPLY=()
  read -r -a words <<< "$whole"
  case "$whole" in
    *[[:space:]]) ;;
    *)
      current="\${words[\${#words[@]}-1]}"
      unset "words[\${#words[@]}-1]"
      ;;
  esac
  previous="\${words[\${#words[@]}-1]}"
  case "$current" in
    --*=*)
      previous="\${current%%=*}"
      current="\${current#*=}"
      ;;
  esac
  case "$replaced" in
    [=:@]) replaced='' ;;
  esac
${findPath(tree, `"\${words[@]:1}"`)}
  case "$at $previous" in
${valued(tree)
  .map(({ path, option }) => `    ${quoted(pathAnd(path, option.name))}) ${bashValue(option)} ;;`)
  .join('\n')}
    *)
      case "$at" in
${tree.map((entry) => `        ${quoted(spaced(entry.path))}) found=${quoted(all(entry))} ;;`).join('\n')}
      esac
      case "$given$at" in
${naming(tree)
  .map(({ path, names }) => `        ${quoted(`0${spaced(path)}`)}) kind=${names} ;;`)
  .join('\n')}
      esac
      ;;
  esac
  [ -n "$found" ] && COMPREPLY=($(compgen -W "$found" -- "$current"))
  case "$current" in
    -*) kind='' ;;
  esac
  [ -z "$kind" ] && return
  while IFS= read -r name; do
    case "$name" in
      "$current"*) COMPREPLY+=("\${name#"\${current%"$replaced"}"}") ;;
    esac
  done < <(eval "${NAMES} $kind" 2>/dev/null) # eval expands an alias
}
complete -o default -F _vigil vigil`;

const bashValue = ({ choices, names }: OptionEntry): string =>
  names === null ? `found=${quoted(choices.join(' '))}` : `kind=${names}`;

const spaced = (path: string): string => (path === '' ? '' : ` ${path}`);
const pathAnd = (path: string, option: string): string => `${spaced(path)} ${option}`;
const all = ({ words, options }: CommandEntry): string =>
  [...words.map(({ word }) => word), ...options.map(({ name }) => name)].join(' ');

/** \`name:description\`, as _describe reads it. */
const described = (name: string, description: string): string =>
  quoted(`${name.replaceAll(':', '\\:')}:${description}`);

const zshValue = ({ choices, names }: OptionEntry): string => {
  if (names !== null) return `_vigil_names ${names}`;
  return choices.length === 0 ? '_files' : `compadd -- ${choices.map(quoted).join(' ')}`;
};

const zsh = (tree: Tree): string => `#compdef vigil
_vigil_names() {
  # eval expands an alias, which the completion of zsh turns off
  setopt localoptions aliases
  local -a names
  names=(\${(f)"$(eval "${NAMES} $1" 2>/dev/null)"})
  compadd -- $names
}
_vigil() {
  local -a found
  local named=1
${findPath(tree, `"\${(@)words[2,CURRENT-1]}"`)}
  case "$at \${words[CURRENT-1]}" in
${valued(tree)
  .map(({ path, option }) => `    ${quoted(pathAnd(path, option.name))}) ${zshValue(option)}; return ;;`)
  .join('\n')}
  esac
  case "$given$at" in
${naming(tree)
  .map(({ path, names }) => `    ${quoted(`0${spaced(path)}`)}) _vigil_names ${names}; named=$? ;;`)
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
  _describe vigil found || (( ! named )) || _files
}
if [ "$funcstack[1]" = _vigil ]; then
  _vigil "$@"
else
  # zsh completes the text of an alias and not its name: the alias becomes a function. One that calls vigil itself stays.
  if (( $+aliases[vigil] )) && [[ " $aliases[vigil] " != *' vigil '* ]]; then
    functions[vigil]="$aliases[vigil] \\"\\$@\\""
    unalias vigil
  fi
  compdef _vigil vigil
fi`;

/** `given`: so many words that are not options stand after the command. */
const fish = (tree: Tree): string => `# fish completion of vigil
function __vigil_at
  set -l at ''
  set -l given 0
  for word in (commandline -opc)[2..-1]
    switch "$at $word"
      case ${paths(tree).join(' ')}
        set at "$at $word"
      case '* -*'
      case '*'
        set given (math $given + 1)
    end
  end
  test "$at" = "$argv[1]"; and begin; test (count $argv) = 1; or test $given = $argv[2]; end
end
complete -c vigil -e
${tree.flatMap(fishLines).join('\n')}`;

const fishNames = (names: string): string => `-f -a "(${NAMES} ${names} 2>/dev/null)"`;

const fishLines = ({ path, words, options, names }: CommandEntry): readonly string[] => {
  const here = `complete -c vigil -n "__vigil_at ${quoted(spaced(path))}"`;
  return [
    ...(names === null ? [] : [`complete -c vigil -n "__vigil_at ${quoted(spaced(path))} 0" ${fishNames(names)}`]),
    ...words.map(({ word, description }) => `${here} -f -a ${quoted(word)} -d ${quoted(description)}`),
    ...options.map((option) => `${here} -l ${quoted(option.name.replace(/^--/, ''))}${fishValue(option)}`),
  ];
};

const fishValue = ({ description, takesValue, choices, names }: OptionEntry): string => {
  const suggested =
    names !== null ? ` ${fishNames(names)}` : choices.length === 0 ? '' : ` -f -a ${quoted(choices.join(' '))}`;
  return `${takesValue ? ` -r${suggested}` : ''} -d ${quoted(description)}`;
};
