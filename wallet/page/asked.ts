import { type AuthorityDocument, type Decision, type Order, readOrder } from '../../sdk/src/signing/signing.ts'
import { fromBase64url } from './bytes.ts'

interface Signs {
  decision: Decision
  /** User id of the signer. */
  person: string
  /** Hash of the authority in force, as the console knows it. */
  authority: string
}

/** The request of the console, with no field that this page does not know. */
export type AskedOrder = Signs & { kind: 'order'; order: Order }
export type AskedPayout = Signs & { kind: 'payout'; payoutId: string; orders: [Order, ...Order[]] }
export type AskedAuthority = Signs & { kind: 'authority'; next: AuthorityDocument }
export type Asked = AskedOrder | AskedPayout | AskedAuthority

/** A request that cannot be signed, for a reason that people are told. */
export class Fault extends Error {}

const decisions: Record<Asked['kind'], readonly Decision[]> = {
  order: ['initiate', 'approve', 'reject', 'cancel'],
  payout: ['initiate', 'approve', 'reject', 'cancel'],
  authority: ['approve', 'reject'],
}
const isId = (value: unknown): value is string => typeof value === 'string' && /^[A-Za-z0-9._:-]{1,128}$/.test(value)
const isHash = (value: unknown): value is string => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)
/** Before the name of what was compressed. */
const compressed = 'z.'
const rowsMax = 1_000

/** @throws Fault or SigningError, or another error for what cannot be read at all */
export async function readAsked(fragment: string): Promise<Asked> {
  const { decision, person, authority, ...about } = JSON.parse(await textOf(fragment))
  const content = readAbout(about)
  if (!isId(person) || !decisions[content.kind].includes(decision)) throw new Fault('nobody decides')
  if (!isHash(authority)) throw new Fault('it names no authority')
  assertInitiator(content, decision, person)
  return { ...content, decision, person, authority }
}

/** Large requests are compressed, because browsers bound the length of an address. */
async function textOf(fragment: string): Promise<string> {
  if (!fragment.startsWith(compressed)) return new TextDecoder().decode(fromBase64url(fragment))
  const packed = new Blob([fromBase64url(fragment.slice(compressed.length))]).stream()
  return new Response(packed.pipeThrough(new DecompressionStream('deflate-raw'))).text()
}

type About = Omit<AskedOrder, keyof Signs> | Omit<AskedPayout, keyof Signs> | Omit<AskedAuthority, keyof Signs>

function readAbout(about: Record<string, unknown>): About {
  const names = Object.keys(about).sort().join(' ')
  if (names === 'order') return { kind: 'order', order: readOrder(about.order) }
  if (names === 'orders payoutId') return readPayout(about)
  if (names === 'next') return { kind: 'authority', next: about.next as AuthorityDocument }
  throw new Fault('it has a field that this page does not know')
}

function readPayout({ payoutId, orders }: Record<string, unknown>): Omit<AskedPayout, keyof Signs> {
  if (!isId(payoutId) || !Array.isArray(orders) || orders.length === 0 || orders.length > rowsMax)
    throw new Fault('its rows cannot be read')
  return { kind: 'payout', payoutId, orders: orders.map(readOrder) as [Order, ...Order[]] }
}

function assertInitiator(about: About, decision: Decision, person: string): void {
  if (decision !== 'initiate' || about.kind === 'authority') return
  const { initiatorId } = about.kind === 'order' ? about.order : about.orders[0]
  if (initiatorId !== person) throw new Fault('somebody else orders it')
}
