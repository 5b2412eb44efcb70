import type { OpenApiDocument, Operation } from '../../server/src/http/openapi-document.ts'
import type { Person } from '../../server/src/testing/app.ts'

/**
 * The answers of the API: the values of each property by its name, objects among them, and the items of each list by its URL.
 * Requests are made of it, so that they speak of things that exist.
 */
export class Pool {
  readonly #values: Map<string, unknown[]>
  readonly #items: Map<string, Item[]>

  /** Whose things come first. */
  readonly #owner: string | undefined

  constructor(owner: string | undefined, values = new Map<string, unknown[]>(), items = new Map<string, Item[]>()) {
    this.#owner = owner
    this.#values = values
    this.#items = items
  }

  /** A pool that learns on its own. */
  copy(): Pool {
    const copied = <Value>(map: Map<string, Value[]>) =>
      new Map([...map].map(([key, list]): [string, Value[]] => [key, [...list]]))
    return new Pool(this.#owner, copied(this.#values), copied(this.#items))
  }

  /** Learns from the answer of a URL: things, with the lists that they have. */
  learn(url: string, body: unknown): void {
    if (typeof body !== 'object' || body === null) return
    const items = Array.isArray(body) ? (body as Item[]) : (body as { items?: Item[] }).items
    const isItem = items === undefined && url.endsWith(`/${idOf(body as Item)}`)
    this.#learnItems(
      isItem ? url.slice(0, url.lastIndexOf('/')) : url,
      items ?? [body as Item],
      items === undefined && !isItem,
    )
    this.#gather(body, '')
  }

  #learnItems(list: string, items: unknown[], isOne = false): void {
    for (const item of [...items].reverse()) {
      const id = isItem(item) ? idOf(item) : undefined
      if (!isItem(item) || (id === undefined && !isOne)) continue
      if (id !== undefined) this.#putItem(list, id, item)
      const url = isOne ? list : `${list}/${id}`
      for (const [name, value] of Object.entries(item))
        if (Array.isArray(value)) this.#learnItems(`${url}/${name}`, value)
    }
  }

  /** A thing that is known is replaced where it stands. */
  #putItem(list: string, id: string, item: Item): void {
    const items = this.#items.get(list) ?? []
    this.#items.set(list, items)
    const place = items.findIndex((other) => idOf(other) === id)
    if (place >= 0) items[place] = { ...items[place], ...item }
    else items.splice(0, 0, item)
    items.splice(itemsMax)
  }

  /** The items of a list, or of all lists with the last part of its URL: what is the owner's own first, then the newest. */
  items(url: string): Item[] {
    const isOwn = (item: Item) => this.#owner !== undefined && owning.some((name) => item[name] === this.#owner)
    const items = this.#itemsOf(url)
    return [...items.filter(isOwn), ...items.filter((item) => !isOwn(item))]
  }

  #itemsOf(url: string): Item[] {
    const exact = this.#items.get(url)
    if (exact !== undefined) return exact
    const end = url.slice(url.lastIndexOf('/'))
    return [...this.#items].flatMap(([list, items]) => (list.endsWith(end) ? items : []))
  }

  /** The ids of a kind of things, such as `counterpartyGroup`. */
  ids(kind: string): string[] {
    const list = collections[kind] ?? `${kind.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}s`
    const ids = ['', 'es'].flatMap((end) => this.items(`/${list.slice(0, end === '' ? undefined : -1)}${end}`))
    return [...new Set(ids.flatMap((item) => idOf(item) ?? []))]
  }

  values(name: string): unknown[] {
    return this.#values.get(name) ?? []
  }

  names(): string[] {
    return [...this.#values.keys()]
  }

  #gather(value: unknown, name: string): void {
    if (name !== '' && value !== null) put(this.#values, name, value, valuesMax)
    if (Array.isArray(value)) for (const item of value) this.#gather(item, '')
    else if (typeof value === 'object' && value !== null)
      for (const [key, part] of Object.entries(value)) this.#gather(part, key)
  }
}

export type Item = Record<string, unknown>
const isItem = (value: unknown): value is Item => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Its id, or that of the thing that it is about: the items of some lists have a `userId` alone. */
function idOf(item: Item): string | undefined {
  const [, id] =
    Object.entries(item).find(([name]) => name === 'id') ??
    Object.entries(item).find(([name]) => name.endsWith('Id')) ??
    []
  return typeof id === 'string' || typeof id === 'number' ? String(id) : undefined
}

const owning = ['ownerId', 'managerId', 'createdById', 'authorId', 'initiatorId', 'requestedById']
const itemsMax = 30
const valuesMax = 40

/** Lists whose name is not a plural of the kind. */
const collections: Record<string, string> = {
  user: 'members',
  group: 'policy-groups',
  category: 'operation-categories',
  counterparty: 'counterparties',
  policy: 'policies',
  folder: 'address-groups',
}

function put<Value>(into: Map<string, Value[]>, name: string, value: Value, max: number): void {
  const text = JSON.stringify(value)
  const others = (into.get(name) ?? []).filter((other) => JSON.stringify(other) !== text)
  into.set(name, [value, ...others].slice(0, max))
}

export const prefix = '/api/v1'

/** Reads what there is to read, lists before what stands under their items, as often as paths have parameters. */
export async function lookAround(document: OpenApiDocument, vault: string, reader: Person): Promise<Pool> {
  const pool = new Pool(reader.userId)
  const done = new Set<string>()
  for (let depth = 0; depth < 3; depth += 1) {
    for (const [path, operations] of Object.entries(document.paths)) {
      if (operations.get === undefined || !path.startsWith(prefix)) continue
      for (const url of expand(path.slice(prefix.length), pool, vault)) {
        if (done.has(url)) continue
        done.add(url)
        const { status, body } = await reader.get(`${url}${queryOf(operations.get)}` as `/vaults/${string}`)
        if (status === 200) pool.learn(url, body)
      }
    }
  }
  return pool
}

/** Parameters without which a list answers nothing. */
function queryOf(operation: Operation): string {
  const { parameters = [] } = operation as {
    parameters?: { name?: string; in?: string; required?: boolean; schema?: Described }[]
  }
  const needed = parameters.filter((parameter) => parameter.in === 'query' && parameter.required === true)
  const pairs = needed.map(({ name, schema }) => [name!, String(schema?.enum?.[0] ?? schema?.examples?.[0])])
  return pairs.length === 0 ? '' : `?${new URLSearchParams(Object.fromEntries(pairs))}`
}
type Described = { enum?: unknown[]; examples?: unknown[] }

/** The URLs that a template stands for, with ids that were seen; none while an id is missing. */
function expand(template: string, pool: Pool, vault: string): string[] {
  let urls = ['']
  for (const part of template.split('/').slice(1)) {
    const name = /^\{(\w+)\}$/.exec(part)?.[1]
    urls = urls.flatMap((url) =>
      name === undefined ? [`${url}/${part}`] : idsAt(pool, url, name, vault).map((id) => `${url}/${id}`),
    )
  }
  return urls.slice(0, urlsMax)
}

const urlsMax = 12

/** The values of a parameter of a path: the vault, a kind of operation, or an item of the list that stands before it. */
export function idsAt(pool: Pool, url: string, name: string, vault: string): string[] {
  if (name === 'code') return [vault]
  if (name === 'type')
    return url.endsWith('/operations') ? ['transfer', 'deposit'] : ['operations', 'transaction_activity']
  const operations = /\/operations\/(transfer|deposit)$/.exec(url)?.[1]
  const items = pool.items(operations === undefined ? url : `/${operations}s`)
  const ids = items.flatMap((item) => item[name] ?? idOf(item) ?? [])
  return [...new Set(ids.map((id) => encodeURIComponent(String(id))))]
}
