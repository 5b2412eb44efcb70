// Parses TypeScript and JavaScript for the rules.
import ts from 'typescript'

export const isCode = (path) => /\.(tsx?|js|cjs)$/.test(path)
export const isTest = (path) => /\.test\.(ts|js)$/.test(path) || /(^|\/)(tests|testing)\//.test(path)

export function parse({ path, text }) {
  return ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
}

export function visit(node, see) {
  see(node)
  ts.forEachChild(node, (child) => visit(child, see))
}

export function lineOf(source, position) {
  return source.getLineAndCharacterOfPosition(position).line + 1
}

/** Returns the comments of a file, each once, with the position where it begins. */
export function commentsOf(source) {
  const found = new Map()
  visit(source, (node) => {
    const ranges = [
      ...(ts.getLeadingCommentRanges(source.text, node.getFullStart()) ?? []),
      ...(ts.getTrailingCommentRanges(source.text, node.getEnd()) ?? []),
    ]
    for (const { pos, end } of ranges) found.set(pos, source.text.slice(pos, end))
  })
  return [...found].map(([position, text]) => ({ position, text }))
}

/** Returns strings and the fixed parts of templates. */
export function textsOf(source) {
  const found = []
  visit(source, (node) => {
    if (ts.isStringLiteralLike(node)) found.push({ position: node.getStart(), text: node.text })
    if (ts.isTemplateExpression(node)) {
      const text = [node.head, ...node.templateSpans.map(({ literal }) => literal)].map((part) => part.text).join(' ? ')
      found.push({ position: node.getStart(), text })
    }
  })
  return found
}

export { ts }
