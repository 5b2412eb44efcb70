// docs/security/threat-tests.md is made from the titles of tests: `npm run tidy -- --threats` writes it.
import { isCode, isTest, parse, ts, visit } from './syntax.js'

export const threatTests = 'docs/security/threat-tests.md'
const threats = 'docs/security/threats.md'
const rule = 'threat'

const intro = `# Tests of the threats

The tests whose titles name a statement of [the threats](threats.md), made from the titles by \`npm run tidy -- --threats\`. \`…\` stands
for a part that differs between runs of a test.
`

/**
 * @param {import('./project.js').File[]} files
 * @returns {string} the page of the tests of each threat
 */
export function renderThreatTests(files) {
  const ofThreats = new Map(statementsOf(files).map(({ threat }) => [threat, new Map()]))
  for (const file of files.filter(({ path }) => isCode(path) && (isTest(path) || path.startsWith('console/test/')))) {
    for (const title of titlesOf(file)) {
      for (const [threat] of title.matchAll(/\bT\d+\b/g)) {
        const ofFiles = ofThreats.get(threat)
        ofFiles?.set(file.path, [...(ofFiles.get(file.path) ?? []), title])
      }
    }
  }
  const sections = [...ofThreats].map(([threat, ofFiles]) => {
    const lists = [...ofFiles].map(([path, titles]) =>
      [`- \`${path}\``, ...titles.map((title) => `  - ${title}`)].join('\n'),
    )
    return [`## ${threat}`, lists.join('\n') || 'No test.'].join('\n\n')
  })
  return `${[intro.trimEnd(), ...sections].join('\n\n')}\n`
}

/**
 * @param {import('./project.js').File[]} files
 * @param {string} page the text of the page as it is committed
 * @returns {import('./project.js').Finding[]}
 */
export function checkThreatTests(files, page) {
  const present = renderThreatTests(files)
  const stale = {
    file: threatTests,
    line: 1,
    rule,
    message: 'is not what the titles of tests say; run npm run tidy -- --threats',
  }
  const untested = statementsOf(files)
    .filter(({ threat, isBuilt }) => isBuilt && present.includes(`## ${threat}\n\nNo test.`))
    .map(({ threat, line }) => ({ file: threats, line, rule, message: `no title of a test names ${threat}` }))
  return [...(page === present ? [] : [stale]), ...untested]
}

/** The statements of the page of threats, in its order. */
function statementsOf(files) {
  const lines = (files.find(({ path }) => path === threats)?.text ?? '').split('\n')
  const isHeading = (line) => /^##/.test(line)
  return lines.flatMap((line, index) => {
    const threat = /^### (T\d+)$/.exec(line)?.[1]
    if (threat === undefined) return []
    const rest = lines.slice(index + 1)
    const end = rest.findIndex(isHeading)
    const body = end === -1 ? rest : rest.slice(0, end)
    return [{ threat, isBuilt: !body.some((text) => text.includes('**Not built')), line: index + 1 }]
  })
}

function titlesOf(file) {
  const source = parse(file)
  const found = []
  visit(source, (node) => {
    if (!ts.isCallExpression(node) || !/^(it|test|describe)\b/.test(node.expression.getText(source))) return
    const [title] = node.arguments
    if (title === undefined) return
    if (ts.isStringLiteralLike(title)) found.push(title.text)
    if (ts.isTemplateExpression(title)) {
      found.push([title.head, ...title.templateSpans.map(({ literal }) => literal)].map(({ text }) => text).join('…'))
    }
  })
  return found.map((title) => title.replaceAll(/%[sijdo]|\$\w+(?:\.\w+)*/g, '…').replaceAll(/\s+/g, ' '))
}
