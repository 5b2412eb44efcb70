import { type GoalKey, goals, isMet, isWorse } from './goals.ts'
import { type Result, show } from './record.ts'

/** The part of a result that is published: `bench/figures/<program>.json`. */
export type Published = Pick<Result, 'program' | 'words' | 'at' | 'revision' | 'machine' | 'versions' | 'minutes'> & {
  goals: Partial<Record<GoalKey, number>>
}

const begin = '<!-- figures: npm run bench:figures writes this part -->'
const end = '<!-- end of the figures -->'

const keys = Object.keys(goals) as GoalKey[]
const calls = [...new Set(keys.map((key) => goals[key].program))]
const callOf = ({ program, words }: Pick<Result, 'program' | 'words'>) => [program, ...words].join(' ')

/**
 * Returns the newest result of each program, with the worst value for each goal. Only whole measurements of committed
 * revisions count.
 */
export function publish(results: Result[]): Published[] {
  const newest = calls.map((call) =>
    results
      .filter((result) => callOf(result) === call && result.changedFiles === 0)
      .toSorted((a, b) => a.at.localeCompare(b.at))
      .at(-1),
  )
  return newest.filter((result) => result !== undefined).map(toPublished)
}

function toPublished({ program, words, at, revision, machine, versions, minutes, goals: measured }: Result): Published {
  const worst: Published['goals'] = {}
  for (const { key, value } of measured) {
    const before = worst[key]
    if (before === undefined || isWorse(goals[key], value, before)) worst[key] = value
  }
  return { program, words, at, revision, machine, versions, minutes, goals: worst }
}

/** Returns the page with its generated part replaced by the published results. */
export function withFigures(page: string, published: Published[]): string {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)]
  if (from < 0 || to < from) throw new Error('The page has no part for the figures')
  return `${page.slice(0, from + begin.length)}\n\n${render(published)}\n${page.slice(to)}`
}

function render(published: Published[]): string {
  const rows = keys.map((key) => rowOf(key, published))
  const runs = calls.map((call) => {
    const result = published.find((run) => callOf(run) === call)
    return `- \`${commandOf(call)}\`: ${result === undefined ? 'no result of this version yet' : describe(result)}`
  })
  return [...tableOf([['Measured by', 'Goal', 'Measured', 'Bound', ''], ...rows]), '', ...runs, ''].join('\n')
}

/** Formats a table of Markdown with aligned columns, as the formatter does. */
function tableOf([head = [], ...rows]: string[][]): string[] {
  const widths = head.map((_, column) => Math.max(3, ...[head, ...rows].map((cells) => cells[column]!.length)))
  const line = (cells: string[]) => `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)]
}

function rowOf(key: GoalKey, published: Published[]): string[] {
  const { program, name, bound, goal } = goals[key]
  const value = published.find((run) => callOf(run) === program)?.goals[key]
  const verdict = value === undefined ? '' : isMet(goals[key], value) ? 'met' : '**missed**'
  const bounded = `${bound} ${goal.toLocaleString('en-US')}`
  return [`\`${commandOf(program)}\``, name, value === undefined ? 'not measured' : show(value), bounded, verdict]
}

function commandOf(call: string): string {
  const [program, ...words] = call.split(' ')
  const script = program === 'load' ? 'bench' : `bench:${program}`
  return ['npm run', script, ...(words.length > 0 ? ['--', ...words] : [])].join(' ')
}

function describe({ revision, at, machine, versions, minutes }: Published): string {
  const { cores, cpu, loadAverageBefore } = machine
  const database = versions.postgres === null ? '' : `, PostgreSQL ${versions.postgres}`
  return (
    `revision ${revision.slice(0, 8)}, ${at.slice(0, 10)}, ${cores} cores (${cpu}), Node ${versions.node}${database}, ` +
    `${Math.ceil(minutes)} minutes, load before ${show(loadAverageBefore)}`
  )
}
