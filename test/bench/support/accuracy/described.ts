/** A description of each successful run that is judged STUCK or FAILING, by a person. By source and run. */
export type Descriptions = Readonly<Record<string, string>>;

/** Of those that `vigil` flags. */
export const DESCRIBED: Descriptions = {
  'intercode-bash ic_bash_react_10_turns_fs_1/32': `A loop. Asked how many lines the compressed files hold, it runs the same \`find … zcat {} \\; | wc -l\` eight times
running, each answering 0, and submits only when its turns are used up; 0 was right.`,
  'intercode-bash ic_bash_react_10_turns_fs_2/11': `A loop. It runs \`find /system/folder3\` and \`find /system/folder3/\` in turn, five times each, both failing with "No such
file or directory", until its turns are used up. The check calls it successful because the right command fails in the same way.`,
};

/** Of those that `coditect` flags, with the sentence of its source that they meet. */
export const DESCRIBED_CODITECT: Descriptions = {
  'intercode-bash ic_bash_react_10_turns_fs_1/32': `"Repeated identical operations". The loop that \`vigil\` finds too.`,
  'intercode-bash ic_bash_react_10_turns_fs_2/11': `"Consecutive failures (> 3)". The loop that \`vigil\` finds too; its calls fail.`,
  'intercode-bash ic_bash_react_10_turns_fs_2/23': `"Consecutive failures (> 3)". An error loop: its first call has deleted the directory, and its last ten all fail, as
they look for it again with other options, until its turns are used up.`,
  'intercode-bash ic_bash_multiturn_starchat_10_turns_fs_2/7': `"Consecutive failures (> 3)". An error loop: six times a \`find\` with the same mistake, answered by "missing argument
to -exec".`,
  'intercode-bash ic_bash_multiturn_starchat_10_turns_fs_4/18': `"Consecutive failures (> 3)". An error loop: four times a command without its closing parenthesis, each longer than
the last.`,
  'intercode-bash ic_bash_multiturn_text-davinci-003_10_turns_fs_2/29': `"Consecutive failures (> 3)". An error loop: four deletions of the same missing files, the last with its message hidden.`,
  'intercode-ctf ic_ctf_multiturn_gpt-4_10_turns/6': `"Consecutive failures (> 3)". No loop: four calls of a program with other options each fail, and the fifth succeeds. \`vigil\` has a higher limit for
this reason.`,
};
