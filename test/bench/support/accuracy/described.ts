/** A description of each successful run that is judged STUCK or FAILING, by a person. By source and run. */
export const DESCRIBED: Readonly<Record<string, string>> = {
  'intercode-bash ic_bash_react_10_turns_fs_1/32': `A loop. Asked how many lines the compressed files hold, it runs the same \`find … zcat {} \\; | wc -l\` eight times
running, each answering 0, and submits only when its turns are used up; 0 was right.`,
  'intercode-bash ic_bash_react_10_turns_fs_2/11': `A loop. It runs \`find /system/folder3\` and \`find /system/folder3/\` in turn, five times each, both failing with "No such
file or directory", until its turns are used up. The check calls it successful because the right command fails in the same way.`,
};
