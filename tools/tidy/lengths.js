// Checks that lines, functions and files are not too long. A longer one needs a reason in a comment at its head: `tidy:
// long because …`.
import { isCode, isTest, lineOf, parse, ts, visit } from './syntax.js'

export const columnsMax = 140
export const functionLinesMax = 70
export const fileLinesMax = 400
export const testFileLinesMax = 1200

const excuse = /tidy: long because \S+/
/** An excuse of a file must be in its first lines. */
const headLines = 8

/**
 * @param {import('./project.js').File[]} files
 * @returns {import('./project.js').Finding[]}
 */
export function checkLengths(files) {
  return files
    .filter(isMeasured)
    .flatMap((file) => [...longLines(file), ...longFile(file), ...(isCode(file.path) ? longFunctions(file) : [])])
}

/** The markup of a page is long where its sentences are. */
const isMeasured = ({ path }) => !path.endsWith('.tsx')

function longLines({ path, text }) {
  return text.split('\n').flatMap((line, index) => {
    // A table of Markdown has one line for a row, and a URL cannot be broken.
    if (path.endsWith('.md') && line.trimStart().startsWith('|')) return []
    const length = [...line.replaceAll(/https?:\/\/\S+/g, '')].length
    if (length <= columnsMax) return []
    return [{ file: path, line: index + 1, rule: 'long line', message: `${length} columns, more than ${columnsMax}` }]
  })
}

function longFile({ path, text }) {
  const lines = text.trimEnd().split('\n')
  const max = isTest(path) ? testFileLinesMax : fileLinesMax
  if (lines.length <= max || lines.slice(0, headLines).some((line) => excuse.test(line))) return []
  return [{ file: path, line: 1, rule: 'long file', message: `${lines.length} lines, more than ${max}` }]
}

function longFunctions(file) {
  const source = parse(file)
  const found = []
  visit(source, (node) => {
    if (!ts.isFunctionLike(node) || node.body === undefined || isGroupOfTests(node) || isListOfEndpoints(file, node))
      return
    const first = lineOf(source, node.getStart())
    const length = lineOf(source, node.getEnd()) - first + 1
    if (length <= functionLinesMax || isExcused(node, source)) return
    const message = `a function of ${length} lines, more than ${functionLinesMax}`
    found.push({ file: file.path, line: first, rule: 'long function', message })
  })
  return found
}

/** Returns true for the function of a `describe`, which holds tests and is not measured as a function. */
function isGroupOfTests(node) {
  return ts.isCallExpression(node.parent) && /^describe\b/.test(node.parent.expression.getText())
}

/**
 * Returns true for a function that registers endpoints in a file of routes. It is a list of endpoints, and each handler
 * is measured.
 */
function isListOfEndpoints({ path }, node) {
  return /[/-]routes\.ts$/.test(path) && ts.isFunctionDeclaration(node) && /Routes$/.test(node.name?.text ?? '')
}

/** Returns true if an excuse stands before the statement that the function is part of, or before the function itself. */
function isExcused(node, source) {
  for (let at = node; at !== undefined && !ts.isSourceFile(at); at = at.parent) {
    const comments = ts.getLeadingCommentRanges(source.text, at.getFullStart()) ?? []
    if (comments.some(({ pos, end }) => excuse.test(source.text.slice(pos, end)))) return true
    if (ts.isStatement(at) || ts.isClassElement(at)) return false
  }
  return false
}
