import { type Kind, kinds } from '../../lib/counterparty-kinds.ts'
import { addressKey, bookOf, isAddressLike, type Known } from '../../lib/recipient.ts'

/** The columns of the file, and other names for them. */
export const importColumns = {
  name: ['counterparty', 'recipient', 'Empfänger', 'Firma', 'Name'],
  kind: ['type', 'sort', 'Art', 'Sorte'],
  network: ['chain', 'blockchain', 'Netzwerk'],
  address: ['wallet', 'wallet address', 'Adresse'],
  label: ['address label', 'Bezeichnung'],
  description: ['note', 'comment', 'Beschreibung', 'Notiz'],
}

export type ImportField = keyof typeof importColumns
/** `number` is the line of the file; `refusal` is the service's message when it refused the row. */
export type ImportRow = Record<ImportField, string> & { number: number; refusal: string | null; isDone: boolean }

export type Verdict =
  | 'good'
  | 'done'
  | 'refused'
  | 'no name'
  | 'no kind'
  | 'no network'
  | 'no address'
  | 'duplicate'
  | 'known'
  | 'look-alike'

export type Judged = { row: ImportRow; verdict: Verdict; other: Known | null }

type Context = { networks: readonly string[]; known: readonly Known[] }

/** Returns a verdict for every row: that it can be imported, or its problem. */
export function judgeRows(rows: readonly ImportRow[], { networks, known }: Context): Judged[] {
  const book = bookOf(known)
  const seen = new Map<string, Known>()
  return rows.map((row) => {
    const key = `${row.network} ${addressKey(row.address)}`
    const earlier = seen.get(key) ?? null
    if (row.address !== '' && earlier === null) seen.set(key, { address: row.address, name: row.name })
    const judged = (verdict: Verdict, other: Known | null = null): Judged => ({ row, verdict, other })
    if (row.isDone) return judged('done')
    if (row.name === '') return judged('no name')
    if (kindOf(row.kind) === null) return judged('no kind')
    if (!networks.includes(networkOf(row, networks))) return judged('no network')
    if (!isAddressLike(row.address)) return judged('no address')
    if (earlier !== null) return judged('duplicate', earlier)
    const same = book.same(row.address)
    if (same !== undefined) return judged('known', same)
    const alike = book.alike(row.address)
    if (row.refusal !== null) return judged('refused')
    return alike === undefined ? judged('good') : judged('look-alike', alike)
  })
}

/** Returns true for good rows and for compared look-alikes. Refused rows must be corrected first. */
export function isImportable({ verdict }: Judged, withLookAlikes: boolean): boolean {
  return verdict === 'good' || (verdict === 'look-alike' && withLookAlikes)
}

/** Returns the kind of a cell, or null if it is unknown. An empty cell means "other". */
export function kindOf(text: string): Kind | null {
  const word = text.trim().toLowerCase()
  if (word === '') return 'other'
  const known: Record<string, Kind> = { person: 'individual', firma: 'company', börse: 'exchange', dienst: 'service' }
  return kinds.find((kind) => kind === word) ?? known[word] ?? null
}

/** Returns the network of a row. An empty cell means the network of the vault, if it has only one. */
export function networkOf({ network }: ImportRow, networks: readonly string[]): string {
  if (network === '' && networks.length === 1) return networks[0]!
  return network.toLowerCase()
}

/** Groups rows of the same name into one entry with several addresses, at the place of its first row. */
export function entriesOf(rows: readonly ImportRow[]): ImportRow[][] {
  const entries = new Map<string, ImportRow[]>()
  for (const row of rows) entries.set(row.name, [...(entries.get(row.name) ?? []), row])
  return [...entries.values()]
}

export const chainMax = 50

export function chainsOf<Item>(items: readonly Item[]): Item[][] {
  const count = Math.ceil(items.length / chainMax)
  return Array.from({ length: count }, (_, index) => items.slice(index * chainMax, (index + 1) * chainMax))
}
