// Comments open with a subject or a verb, and a variable is named after what it holds.
import { commentsOf, isCode, lineOf, parse, ts, visit } from './syntax.js'

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
      return [...openingsIn(file, source), ...namesIn(file, source)]
    })
}

function openingsIn({ path, text }, source) {
  return commentsOf(source).flatMap(({ position, text: comment }) => {
    const opening = openings.exec(comment.replace(/^[/*\s]+/, ''))
    if (opening === null || continuesComment(text, position)) return []
    const message = `opens with ${opening[1]}; say it as subject, verb, noun`
    return [{ file: path, line: lineOf(source, position), rule: 'opening', message }]
  })
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
