import { hashOf } from '../../sdk/src/signing/signing.ts'
import { mutated, type Random } from '../../sdk/src/testing/signed-orders.ts'
import type { Lie } from './lying-service.ts'

/** The answers that lie to a person: none, some, those that are signed or shown before a signature, or all. */
export type Mood = 'honest' | 'some' | 'signed' | 'every'

/** Paths of answers about the signed document, its signers and the page for signatures. */
const isOfSigned = (path: string) => /preview|\/authority|\/transfers\/|\/payouts\/|signing-pages|session/.test(path)

/** A service that was taken over: the people it lies to, and its answers to them. */
export class Liar {
  /** By the token of the person. */
  readonly moods = new Map<string, Mood>()
  /** Orders and payouts by their hash, true or not: all that a person may have signed. */
  readonly told: object[] = []
  count = 0
  readonly #random: Random
  readonly #thief: string
  /** The addresses that people pay. */
  readonly #paid: string[]

  constructor({ random, thief, paid }: { random: Random; thief: string; paid: string[] }) {
    this.#random = random
    this.#thief = thief
    this.#paid = paid
  }

  readonly lie: Lie = (path, body, { cookie = '', authorization = '' }) => {
    const moods = [...this.moods].find(([token]) => `${cookie} ${authorization}`.includes(token))
    const answer = this.#isLiedAbout(path, moods?.[1] ?? 'honest') ? this.#altered(body) : body
    this.told.push(...documentsIn(answer))
    return answer
  }

  #isLiedAbout(path: string, mood: Mood): boolean {
    if (!path.startsWith('/api/v1/') || mood === 'honest') return false
    if (mood === 'every') return true
    return mood === 'some' ? this.#random() < 0.1 : isOfSigned(path) && this.#random() < 0.5
  }

  /** One value is another one, or the whole answer consistently tells of another recipient or amount. */
  #altered(body: unknown): unknown {
    this.count += 1
    const kind = this.#random()
    if (kind < 0.7) return mutated(body, this.#random).answer
    const text = JSON.stringify(body)
    if (kind < 0.85) return JSON.parse(this.#paid.reduce((all, address) => all.replaceAll(address, this.#thief), text))
    return JSON.parse(text.replace(/"(amount|value)":"(\d+)"/g, '"$1":"$2000"'))
  }
}

/** All orders in an answer, and all lists of them. */
function documentsIn(value: unknown): object[] {
  if (typeof value !== 'object' || value === null) return []
  const inside = Object.values(value).flatMap(documentsIn)
  return 'transferId' in value && 'toAddress' in value && 'amount' in value ? [value, ...inside] : inside
}

/** The documents by what votes on them name. */
export async function byHash(documents: readonly object[]): Promise<Map<string, object>> {
  const hashes = await Promise.all(documents.map((document) => hashOf(document)))
  return new Map(documents.map((document, i) => [hashes[i]!, document]))
}
