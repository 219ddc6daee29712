import { spawnSync } from 'node:child_process';

/** Subjects are checked from the commit after this one. */
const BASE = 'ede6d68';
const SUBJECT_MAX = 72;

/** Problems of the lines of `git log --format='%h %s'`: subjects that are too long. */
export const subjectProblems = (log: string): readonly string[] =>
  log.split('\n').flatMap((line) => {
    const [commit = '', ...words] = line.split(' ');
    const { length } = words.join(' ');
    return length <= SUBJECT_MAX
      ? []
      : [
          `commit ${commit}: the subject has ${length} characters; write at most ${SUBJECT_MAX}, and the reason below it`,
        ];
  });

/** Problems of the subjects since BASE; null where the checkout does not contain BASE (a shallow clone, an archive). */
export const commitProblems = (root: string): readonly string[] | null => {
  const args = ['log', '--no-merges', '--format=%h %s', `${BASE}..HEAD`];
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  return status === 0 ? subjectProblems(stdout) : null;
};
