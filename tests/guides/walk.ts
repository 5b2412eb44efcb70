import { execFile } from 'node:child_process'

/** A block of a document that is run, with the answer that the document shows for it. */
export type Step = { line: number; script: string; answer: { isJson: boolean; text: string } | null }

const runBlock = /^```sh tour\n([\s\S]*?)^```$(?:\n+```(json)?\n([\s\S]*?)^```$)?/gm

/**
 * Returns the blocks ` ```sh tour ` of a document, each with the fence that follows it at once, if the fence has no
 * language or is JSON.
 */
export function readSteps(markdown: string): Step[] {
  return [...markdown.matchAll(runBlock)].map(({ 1: script, 2: language, 3: text, index }) => ({
    line: markdown.slice(0, index).split('\n').length,
    script: script!,
    answer: text === undefined ? null : { isJson: language === 'json', text },
  }))
}

const mark = '== a block ends =='

/**
 * Runs the steps in one shell, from the first to the last.
 * @returns the output of each step
 * @throws Error with the line of the block that failed and the end of its output
 */
export async function runSteps(steps: Step[], options: { cwd: string; env: NodeJS.ProcessEnv }): Promise<string[]> {
  const script = ['set -euo pipefail', ...steps.flatMap(({ script }) => [script, `echo; echo '${mark}'`])].join('\n')
  return new Promise((resolve, reject) => {
    execFile('bash', ['-c', script], { ...options, timeout: 400_000 }, (error, stdout, stderr) => {
      const printed = stdout.split(mark).map((text) => text.trim())
      if (error === null) return resolve(printed.slice(0, -1))
      const { line } = steps[Math.min(printed.length, steps.length) - 1]!
      reject(new Error(`the block at line ${line} failed:\n${printed.at(-1)}\n${stderr.slice(-4_000)}`))
    })
  })
}

/**
 * Returns the first difference between an answer and its document, or null. In the document, `…` stands for
 * any text, and as a last line for any number of lines.
 */
export function findMismatch({ isJson, text }: NonNullable<Step['answer']>, printed: string): string | null {
  if (!isJson) return matches(text.trim(), printed) ? null : `expected\n${text.trim()}\nbut got\n${printed}`
  const found = mismatchIn(JSON.parse(text), JSON.parse(printed), 'answer')
  return found === null ? null : `${found}; the answer is\n${printed}`
}

/**
 * Objects may have more fields than the document shows. A list must have the shown items; it may have more if the last
 * shown item is `…`.
 */
function mismatchIn(expected: unknown, actual: unknown, path: string): string | null {
  if (typeof expected === 'string' && typeof actual === 'string' && matches(expected, actual)) return null
  if (Array.isArray(expected) && Array.isArray(actual)) {
    const isOpen = expected.at(-1) === '…'
    const shown = isOpen ? expected.slice(0, -1) : expected
    if (actual.length < shown.length || (!isOpen && actual.length > shown.length)) {
      return `${path} has ${actual.length} items, not ${shown.length}`
    }
    return firstMismatch(shown.map((item, index) => mismatchIn(item, actual[index], `${path}[${index}]`)))
  }
  if (isObject(expected) && isObject(actual)) {
    return firstMismatch(
      Object.entries(expected).map(([key, value]) =>
        key in actual ? mismatchIn(value, actual[key], `${path}.${key}`) : `${path} has no ${key}`,
      ),
    )
  }
  return expected === actual ? null : `${path} is ${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`
}

function matches(expected: string, actual: string): boolean {
  const isOpen = expected.endsWith('\n…')
  const parts = (isOpen ? expected.slice(0, -2) : expected)
    .split('…')
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('[\\s\\S]*')}${isOpen ? '(\\n[\\s\\S]*)?' : ''}$`).test(actual)
}

const firstMismatch = (found: (string | null)[]): string | null => found.find((mismatch) => mismatch !== null) ?? null

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
