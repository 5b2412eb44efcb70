// Checks that the subject of a commit has the form `area: what`, so that the log of an area can be found and read.

const pattern = /^[a-z][\w./-]*(, [a-z][\w./-]*)*: \S/

/**
 * @param {{ hash: string, subject: string }[]} commits
 * @returns {import('./project.js').Finding[]}
 */
export function checkSubjects(commits) {
  return commits
    .filter(({ subject }) => !pattern.test(subject))
    .map(({ hash, subject }) => ({
      file: hash,
      line: 1,
      rule: 'commit subject',
      message: `"${subject}" is not of the form "area: what"`,
    }))
}
