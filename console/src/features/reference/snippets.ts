import type { Operation, Parameter } from './types.ts'

/** The values that the reader entered, by the names of parameters. */
export type Values = Readonly<Record<string, string>>

/**
 * Returns the value of a parameter in an example: the entered value, or the documented example if the parameter is
 * required.
 */
function valueFor({ name, required, example }: Parameter, values: Values): string | null {
  const entered = values[name] ?? ''
  if (entered !== '') return entered
  return required === true ? String(example ?? name) : null
}

/** Returns the path and the query of a request. */
export function pathOf({ path, parameters }: Operation, values: Values): string {
  const valued = parameters.flatMap((parameter) => {
    const value = valueFor(parameter, values)
    return value === null ? [] : [{ ...parameter, value }]
  })
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const found = valued.find((parameter) => parameter.in === 'path' && parameter.name === name)
    return encodeURIComponent(found?.value ?? name)
  })
  const query = valued.filter((parameter) => parameter.in === 'query').map(({ name, value }) => [name, value])
  return query.length === 0 ? filled : `${filled}?${new URLSearchParams(query)}`
}

/** Returns a shell command, which can be run once STRONGROOM_TOKEN is set. */
export function curlOf(operation: Operation, values: Values, origin: string): string {
  const { verb, isPublic, bodyExample, fileType, parameters } = operation
  const takesKey = parameters.some(({ name }) => name === 'Idempotency-Key')
  const lines = [
    `curl ${verb === 'GET' ? '' : `-X ${verb} `}${quoted(origin + pathOf(operation, values))}`,
    ...(isPublic ? [] : ['-H "Authorization: Bearer $STRONGROOM_TOKEN"']),
    ...(takesKey ? ['-H "Idempotency-Key: $(uuidgen)"'] : []),
    ...(fileType === undefined ? [] : [`-H 'Content-Type: ${fileType}'`, '--data-binary @file']),
    ...(bodyExample === undefined ? [] : ["-H 'Content-Type: application/json'", `-d ${quoted(json(bodyExample))}`]),
  ]
  return lines.join(' \\\n  ')
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** Returns a program for the SDK, or null if the SDK has no method for the operation. */
export function sdkOf(operation: Operation, values: Values, origin: string): string | null {
  const { sdk, isPublic, parameters, bodyExample, fileType } = operation
  if (sdk === null) return null
  const token = isPublic ? '' : ', token: process.env.STRONGROOM_TOKEN!'
  const code = parameters.find(({ name }) => name === 'code')
  const vault = code === undefined ? 'treasury' : valueFor(code, values)!
  return [
    "import { createStrongroom } from '@strongroom/sdk'",
    '',
    `const strongroom = createStrongroom({ baseUrl: ${literal(origin)}${token} })`,
    ...(sdk.call.startsWith('vault.') ? [`const vault = strongroom.vault(${literal(vault)})`] : []),
    '',
    resultOf(sdk, [
      ...sdk.takes.map((name) => {
        const parameter = parameters.find((candidate) => candidate.name === name)!
        return literal(typed(valueFor(parameter, values)!, parameter.type))
      }),
      ...(sdk.body === true
        ? [fileType === undefined ? literal(bodyExample) : `new Blob([], { type: '${fileType}' })`]
        : []),
      ...(sdk.query === true ? queryOf(parameters, values) : []),
    ]),
  ].join('\n')
}

function resultOf({ call, gives }: NonNullable<Operation['sdk']>, args: string[]): string {
  const called = `${call}(${args.join(', ')})`
  if (gives === 'pages') return `for await (const item of ${called}) console.log(item)`
  if (gives === 'outcome') return `const { value, pendingApproval } = await ${called}`
  if (gives === 'file') return `const file = await ${called}\nconst bytes = await file.blob()`
  return gives === 'nothing' ? `await ${called}` : `const answer = await ${called}`
}

/** Returns the query as an argument of a program, with numbers, booleans and lists as such. */
function queryOf(parameters: readonly Parameter[], values: Values): string[] {
  const members = parameters
    .filter((parameter) => parameter.in === 'query')
    .flatMap((parameter) => {
      const value = valueFor(parameter, values)
      if (value === null) return []
      return [[parameter.name, typed(value, parameter.type)] as const]
    })
  return members.length === 0 ? [] : [literal(Object.fromEntries(members))]
}

function typed(value: string, type: string): unknown {
  if (type.startsWith('list of')) return value.split(',')
  const isText = !/^(integer|number|boolean)/.test(type) || !/^(-?\d+(\.\d+)?|true|false)$/.test(value)
  return isText ? value : JSON.parse(value)
}

/** Formats a value as in a program: names without quotation marks, texts in single quotation marks. */
function literal(value: unknown): string {
  return json(value)
    .replace(/^(\s*)"([A-Za-z_$][\w$]*)":/gm, '$1$2:')
    .replace(/"((?:\\.|[^"\\])*)"/g, (text, inner: string) => (/['\\]/.test(inner) ? text : `'${inner}'`))
}

export function json(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? ''
}
