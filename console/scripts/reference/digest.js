// Cuts openapi.json into the files that the pages of the reference load: an index of all operations, and one file per
// group of them.
import { readOperations } from '../../../sdk/scripts/operations.js'
import { componentsIn, membersOf, namesIn, shapeOf } from './shapes.js'

/** The callers of an operation, by its level of access. */
const callers = {
  public: 'Anybody: no session and no token of a user',
  caller: 'Whoever is signed in, and services; rights on the thing itself decide further',
  member: 'Members of the vault; rights and policies decide further',
  auditor: 'Administrators and auditors of the vault',
  administrator: 'Administrators of the vault',
  platform: 'Platform administrators',
}

/** A reason of at least this share of all operations is common, and is not listed with every operation. */
const commonShare = 0.85

/**
 * @param {object} document openapi.json
 * @param {string} errors docs/errors.md, whose table explains each reason
 * @returns {Record<string, object>} the files by their names
 */
export function digest(document, errors) {
  const sdk = new Map(readOperations(document).map((operation) => [operation.id, operation]))
  // Directories of companies speak SCIM, which docs/directory.md describes; nobody calls it with the SDK.
  const paths = Object.entries(document.paths).filter(([path]) => !path.startsWith('/scim/'))
  const operations = paths.flatMap(([path, item]) =>
    Object.entries(item).map(([verb, operation]) => read(document, path, verb, operation, sdk)),
  )
  const files = { index: indexOf(document, operations, readReasons(document, errors)) }
  files.search = searchOf(document, operations)
  for (const { slug, name } of files.index.groups) {
    const ofGroup = operations.filter((operation) => operation.group === name)
    files[slug] = {
      operations: Object.fromEntries(ofGroup.map(({ group: _group, ...operation }) => [operation.id, operation])),
      components: componentsOf(document, ofGroup),
    }
  }
  return files
}

function read(document, path, verb, operation, sdk) {
  const resolve = (found) => (found.$ref === undefined ? found : at(document, found.$ref))
  const answers = Object.entries(operation.responses).map(([status, found]) => [status, resolve(found)])
  const sent = operation.requestBody === undefined ? {} : resolve(operation.requestBody).content
  const body = sent['application/json']
  const [file] = Object.keys(sent)
  return {
    id: operation.operationId,
    group: operation.tags[0],
    verb: verb.toUpperCase(),
    path,
    summary: operation.summary,
    about: operation.description,
    callers: callers[operation['x-access']],
    scope: operation['x-scope'],
    isPublic: operation['x-access'] === 'public',
    parameters: (operation.parameters ?? []).map(resolve).map(parameterOf),
    ...(body === undefined ? {} : { body: shapeOf(body.schema), bodyExample: body.example }),
    ...(body === undefined && file !== undefined ? { fileType: file } : {}),
    answers: answers.filter(([status]) => Number(status) < 400).map(answerOf),
    refusals: answers.filter(([status]) => Number(status) >= 400).map(refusalOf),
    // A page may run only a GET that answers JSON: it writes nothing, redirects nowhere and sends no file.
    ...(verb === 'get' && resolve(operation.responses[200] ?? {}).content?.['application/json'] ? { run: true } : {}),
    sdk: callOf(sdk.get(operation.operationId)),
  }
}

function parameterOf({ name, in: place, required, description, schema, example }) {
  const { about, ...shape } = shapeOf(schema)
  return {
    name,
    in: place,
    ...shape,
    ...((description ?? about) === undefined ? {} : { about: description ?? about }),
    ...(required === true ? { required: true } : {}),
    ...(example === undefined ? {} : { example }),
  }
}

function answerOf([status, { description, content = {} }]) {
  const json = content['application/json']
  const media = Object.keys(content)
  const hasShape = json !== undefined && json.schema.type !== 'null'
  return {
    status: Number(status),
    about: description,
    ...(media.length === 0 ? {} : { media }),
    ...(hasShape ? { shape: shapeOf(json.schema), example: json.example } : {}),
  }
}

function refusalOf([status, { description, content = {} }]) {
  const reasons = Object.keys(content['application/json']?.examples ?? {})
  return { status: Number(status), about: description, reasons }
}

/** Describes the call of the SDK: its method, the identifiers that it takes, its body and query, and its result. */
function callOf({ name, pathParameters, body, query, answer }) {
  if (name === null) return null
  const { isOfVault, resource, method } = name
  const parts = [isOfVault ? 'vault' : 'strongroom', ...(resource === '' ? [] : [resource]), method]
  const takes = pathParameters.map((parameter) => parameter.name).filter((id) => !(isOfVault && id === 'code'))
  return {
    call: parts.join('.'),
    takes,
    ...(body === null ? {} : { body: true }),
    ...(query === null ? {} : { query: true }),
    gives: answer.type === 'void' ? 'nothing' : answer.kind,
  }
}

function indexOf(document, operations, reasons) {
  const usesOf = (reason) =>
    operations.filter((operation) => operation.refusals.some((refusal) => refusal.reasons.includes(reason)))
  return {
    title: document.info.title,
    version: document.info.version,
    about: document.info.description,
    groups: document.tags.map(({ name, description }) => ({
      slug: slugOf(name),
      name,
      about: description,
      operations: operations
        .filter(({ group }) => group === name)
        .map(({ id, verb, path, summary }) => ({ id, verb, path, summary })),
    })),
    reasons: reasons.map((reason) => {
      const uses = usesOf(reason.name).length
      return { ...reason, ...(uses >= operations.length * commonShare ? { common: true } : {}) }
    }),
  }
}

/**
 * Returns the search data besides the index: the fields and reasons of each operation, as numbers of two lists of
 * words.
 */
function searchOf(document, operations) {
  const wordsOf = operations.map((operation) => ({
    id: operation.id,
    about: operation.about,
    fields: [...namesIn(shapesOf(operation), document.components.schemas)],
    reasons: operation.refusals.flatMap((refusal) => refusal.reasons),
  }))
  const listOf = (key) => [...new Set(wordsOf.flatMap((words) => words[key]))].sort()
  const [fields, reasons] = [listOf('fields'), listOf('reasons')]
  const numbers = (list, words) => words.map((word) => list.indexOf(word)).sort((a, b) => a - b)
  return {
    fields,
    reasons,
    operations: Object.fromEntries(
      wordsOf.map(({ id, about, ...words }) => [
        id,
        { about, fields: numbers(fields, words.fields), reasons: numbers(reasons, words.reasons) },
      ]),
    ),
  }
}

function shapesOf({ parameters, body, answers }) {
  return [...parameters, ...(body === undefined ? [] : [body]), ...answers.flatMap(({ shape }) => shape ?? [])]
}

function componentsOf({ components: { schemas } }, operations) {
  const names = [...componentsIn(operations.flatMap(shapesOf), schemas)].sort()
  return Object.fromEntries(
    names.map((name) => [name, { about: schemas[name].description, fields: membersOf(schemas[name]) }]),
  )
}

/** Reads the rows of the table of docs/errors.md, each with its example body. */
function readReasons(document, errors) {
  const rows = [...errors.matchAll(/^\| `(\w+)` +\| (\d{3}) +\| (.*?) +\| (.*?) +\|$/gm)]
  return rows.map(([, name, status, meaning, remedy]) => {
    // A link to a page of the manual becomes its path in the repository, because the service does not serve the manual.
    const [meaningText, remedyText] = [meaning, remedy].map((text) =>
      text.replace(/\[[^\]]*\]\(([^)#]+)[^)]*\)/g, '`docs/$1`'),
    )
    return {
      name,
      status: Number(status),
      meaning: meaningText,
      remedy: remedyText,
      body: document.components.examples[name]?.value,
    }
  })
}

function at(document, reference) {
  return reference
    .split('/')
    .slice(1)
    .reduce((part, key) => part[key], document)
}

/** Returns the name of a group in URLs, which also names its file. */
function slugOf(name) {
  return name.toLowerCase().replaceAll(' ', '-')
}
