// The violations that existed when a rule was made. The list can only get shorter: a new violation is not added, and an
// entry that no longer applies must be removed.

/** @typedef {Record<string, Record<string, number>>} Baseline number of violations that a file still has, by rule */

/**
 * @param {import('./project.js').Finding[]} findings
 * @param {Baseline} baseline
 * @returns {string[]} the messages; empty if nothing is wrong
 */
export function compareWithBaseline(findings, baseline) {
  const counts = countsOf(findings)
  const faults = []
  for (const [file, rules] of Object.entries(counts)) {
    for (const [rule, count] of Object.entries(rules)) {
      if (count <= (baseline[file]?.[rule] ?? 0)) continue
      const ofRule = findings.filter((finding) => finding.file === file && finding.rule === rule)
      faults.push(...ofRule.map(({ line, message }) => `${file}:${line}: ${rule}: ${message}`))
    }
  }
  for (const [file, rules] of Object.entries(baseline)) {
    for (const [rule, listed] of Object.entries(rules)) {
      const count = counts[file]?.[rule] ?? 0
      if (count < listed)
        faults.push(`${file}: ${rule}: the baseline lists ${listed}, there are ${count}; run npm run tidy -- --shrink`)
    }
  }
  return faults
}

/**
 * @param {import('./project.js').Finding[]} findings
 * @param {Baseline} baseline
 * @returns {Baseline} without entries that no longer apply, and without new violations
 */
export function shrink(findings, baseline) {
  const counts = countsOf(findings)
  const files = Object.entries(baseline).map(([file, rules]) => [
    file,
    Object.fromEntries(
      Object.entries(rules)
        .map(([rule, listed]) => [rule, Math.min(listed, counts[file]?.[rule] ?? 0)])
        .filter(([, count]) => count > 0),
    ),
  ])
  return Object.fromEntries(files.filter(([, rules]) => Object.keys(rules).length > 0))
}

function countsOf(findings) {
  const counts = {}
  for (const { file, rule } of findings) {
    counts[file] ??= {}
    counts[file][rule] = (counts[file][rule] ?? 0) + 1
  }
  return counts
}
