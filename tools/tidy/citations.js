// Checks that every citation resolves: threats, sections of the contract, decisions, and files named in comments and
// docs.
import { commentsOf, isCode, lineOf, parse, textsOf } from './syntax.js'

const rule = 'citation'
const threats = 'docs/security/threats.md'
const contract = 'docs/contract.md'

/**
 * @param {import('./project.js').File[]} files
 * @param {Set<string>} paths
 * @returns {import('./project.js').Finding[]}
 */
export function checkCitations(files, paths) {
  const known = {
    paths,
    names: new Set([...paths].flatMap(endsOf)),
    threats: numbersIn(files, threats, /^(?:#+ |\| *)(T\d+)\b/gm),
    sections: numbersIn(files, contract, /^#+ (\d+(?:\.\d+)?)\b/gm),
  }
  // A missing document is one finding, not one for each citation of it.
  const absent = [
    [threats, known.threats],
    [contract, known.sections],
  ].flatMap(([file, numbers]) =>
    numbers === null ? [{ file, line: 1, rule, message: 'is cited and does not exist' }] : [],
  )
  return [...absent, ...files.flatMap((file) => findingsOf(file, known))]
}

function numbersIn(files, path, pattern) {
  const file = files.find((candidate) => candidate.path === path)
  return file === undefined ? null : new Set([...file.text.matchAll(pattern)].map(([, number]) => number))
}

function findingsOf(file, known) {
  return proseOf(file).flatMap(({ line, text }) =>
    unresolvedIn(text, file.path, known).map((message) => ({ file: file.path, line, rule, message })),
  )
}

/** Returns the texts for people: comments and titles of tests in code, everything in other files. */
function proseOf(file) {
  if (!isCode(file.path)) return file.text.split('\n').map((text, index) => ({ line: index + 1, text }))
  const source = parse(file)
  const titles = textsOf(source).filter(({ text }) => /^T\d+ /.test(text))
  return [
    ...commentsOf(source).flatMap(({ position, text }) =>
      text.split('\n').map((part, index) => ({ line: lineOf(source, position) + index, text: part })),
    ),
    ...titles.map(({ position, text }) => ({ line: lineOf(source, position), text: /^T\d+/.exec(text)[0] })),
  ]
}

/** @returns {string[]} a message for each citation of a text that does not resolve */
function unresolvedIn(line, from, { paths, names, threats: knownThreats, sections }) {
  const text = line.replaceAll(/https?:\/\/\S+/g, '')
  const messages = []
  for (const [threat] of text.matchAll(/\bT\d{1,3}\b/g)) {
    if (knownThreats !== null && !knownThreats.has(threat)) messages.push(`${threat} is not in ${threats}`)
  }
  for (const [, section] of text.matchAll(/\bcontract,? (?:section )?(\d+(?:\.\d+)?)\b/gi)) {
    if (sections !== null && !sections.has(section)) messages.push(`${section} is not a heading of ${contract}`)
  }
  for (const [, number] of text.matchAll(/\bdecisions?[ /](\d{4})\b/gi)) {
    const isThere = [...paths].some((path) => path.startsWith(`docs/decisions/${number}-`))
    if (!isThere) messages.push(`docs/decisions has no ${number}`)
  }
  for (const [named] of text.matchAll(
    /(?<![\w./@<*`}-]\/|[\w*}.-])(?:\.{0,2}\/)?[\w.@-]+(?:\/[\w.@-]+)*\.(?:md|ts)\b(?![\w*])/g,
  )) {
    if (!isFile(named, from, paths, names)) messages.push(`${named} does not exist`)
  }
  return messages
}

/**
 * Returns true if the name is a path from the root of the project, a path from the file that names it, or the end of a
 * path.
 */
function isFile(named, from, paths, names) {
  const folder = new URL(from, 'file:///')
  const beside = new URL(named, folder).pathname.slice(1)
  return paths.has(beside) || names.has(named.replace(/^(\.{0,2}\/)+/, ''))
}

function endsOf(path) {
  const parts = path.split('/')
  return parts.map((_, index) => parts.slice(index).join('/'))
}
