import type { CheckedRecipient } from '@strongroom/sdk'
import { type Kind, kinds } from '../../lib/counterparty-kinds.ts'
import { type FindChecked, isAddressLike, recipientKey, verdictOf } from '../../lib/recipient.ts'

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
  | 'duplicate'
  | Exclude<ReturnType<typeof verdictOf>, 'new' | 'paid before'>

/** `earlier` is an earlier row with the same address. */
export type Judged = {
  row: ImportRow
  verdict: Verdict
  checked: CheckedRecipient | null
  earlier: ImportRow | null
}

type Context = { networks: readonly string[]; find: FindChecked }

/** Returns a verdict for every row: that it can be imported, or its problem. */
export function judgeRows(rows: readonly ImportRow[], { networks, find }: Context): Judged[] {
  const seen = new Map<string, ImportRow>()
  return rows.map((row) => {
    const recipient = { network: networkOf(row, networks), address: row.address }
    const key = recipientKey(recipient)
    const earlier = seen.get(key) ?? null
    if (row.address !== '' && earlier === null) seen.set(key, row)
    const checked = find(recipient)
    const judged = (verdict: Verdict): Judged => ({ row, verdict, checked, earlier })
    if (row.isDone) return judged('done')
    if (row.name === '') return judged('no name')
    if (kindOf(row.kind) === null) return judged('no kind')
    if (!networks.includes(recipient.network)) return judged('no network')
    if (!isAddressLike(row.address)) return judged('no address')
    if (earlier !== null) return judged('duplicate')
    const verdict = verdictOf(checked)
    if (verdict === 'new' || verdict === 'paid before') return judged(row.refusal === null ? 'good' : 'refused')
    return judged(verdict === 'look-alike' && row.refusal !== null ? 'refused' : verdict)
  })
}

/**
 * Returns true for good rows, and for look-alikes if the reader has compared them. Refused rows must be corrected
 * first.
 */
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

const chainMax = 50

export function chainsOf<Item>(items: readonly Item[]): Item[][] {
  const count = Math.ceil(items.length / chainMax)
  return Array.from({ length: count }, (_, index) => items.slice(index * chainMax, (index + 1) * chainMax))
}
