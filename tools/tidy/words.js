// Comments and descriptions of the API open with a subject or a verb, and a variable is named after what it holds.
import { commentsOf, isCode, isTest, lineOf, parse, ts, visit } from './syntax.js'

const openings = /^(What|Whether|Who|Which|How)\b/
const names = new Set(['one', 'own', 'each', 'given', 'asked'])

/**
 * @param {import('./project.js').File[]} files
 * @returns {import('./project.js').Finding[]}
 */
export function checkWords(files) {
  return files
    .filter(({ path }) => isCode(path))
    .flatMap((file) => {
      const source = parse(file)
      return [...openingsIn(file, source), ...descriptionsIn(file, source), ...namesIn(file, source)]
    })
}

function openingsIn({ path, text }, source) {
  return commentsOf(source).flatMap(({ position, text: comment }) => {
    const opening = openings.exec(comment.replace(/^[/*\s]+/, ''))
    if (opening === null || continuesComment(text, position)) return []
    return [openingAt(path, source, position, opening[1])]
  })
}

const openingAt = (path, source, position, word) => {
  const message = `opens with ${word}; say it as subject, verb, noun`
  return { file: path, line: lineOf(source, position), rule: 'opening', message }
}

/** Finds descriptions and summaries of the API: properties of those names, and the text of `described` and `optional`. */
function descriptionsIn({ path }, source) {
  const found = []
  if (!/^(server|wallet)\/src\//.test(path) || isTest(path)) return found
  visit(source, (node) => {
    const text = textOfDescription(node)
    const opening = text === undefined ? null : openings.exec(firstText(text))
    if (opening !== null) found.push(openingAt(path, source, text.getStart(), opening[1]))
  })
  return found
}

function textOfDescription(node) {
  if (ts.isPropertyAssignment(node) && /^(description|summary)$/.test(node.name.getText())) return node.initializer
  if (ts.isCallExpression(node) && /^(described|optional)$/.test(node.expression.getText())) return node.arguments[1]
  return undefined
}

/** Returns the beginning of a text that may be a template or a sum of texts. */
function firstText(node) {
  if (ts.isStringLiteralLike(node)) return node.text
  if (ts.isTemplateExpression(node)) return node.head.text
  return ts.isBinaryExpression(node) ? firstText(node.left) : ''
}

/** A line of `//` below another one belongs to the comment that began above. */
function continuesComment(text, position) {
  const above = text.slice(0, position).split('\n').at(-2) ?? ''
  return text.startsWith('//', position) && above.trimStart().startsWith('//')
}

function namesIn({ path }, source) {
  const found = []
  visit(source, (node) => {
    const declares = ts.isParameter(node) || ts.isVariableDeclaration(node) || ts.isBindingElement(node)
    if (!declares || !ts.isIdentifier(node.name) || !names.has(node.name.text)) return
    const message = `names a variable ${node.name.text}; name what it holds`
    found.push({ file: path, line: lineOf(source, node.name.getStart()), rule: 'name', message })
  })
  return found
}
