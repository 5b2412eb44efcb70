import { expect } from 'vitest'
import type { OpenApiDocument } from '../../server/src/http/openapi-document.ts'
import type { Person } from '../../server/src/testing/app.ts'
import { type Pick, picker } from '../../server/src/testing/rules-model.ts'
import { Actor } from './actor.ts'
import { lookAround, type Pool } from './pool.ts'
import { Drawer, type Drawn, type Faulty, faultyOf, type Writing } from './requests.ts'
import type { World } from './world.ts'

type Alone = World['alone']

/** The sender of the requests of a sequence. */
const actors = {
  administrator: ({ administrator }: Alone) => [administrator],
  platform: ({ platform }: Alone) => [platform],
  together: ({ administrator, platform }: Alone) => [administrator, platform],
  service: ({ service }: Alone) => [service],
}
type Who = keyof typeof actors

/** A round: the sequences of each of them draw from every operation once, together. */
const round: Who[] = [
  ...(['administrator', 'platform', 'administrator', 'together', 'administrator'] as const),
  ...(['service', 'administrator', 'platform', 'administrator', 'together'] as const),
]

export const callsMax = 30
/** The number of tries of a call; each one mends the fields that the last answer complained of. */
const attemptsMax = 8
const insistences = 12

export type Call = { drawn: Drawn; status: number; text: string }
export type Sequence = { who: Who; seed: number; calls: number; taken: Call[] }

/** Sequences of calls, each of which follows from its seed. */
export class Campaign {
  readonly drawer: Drawer
  readonly #world: World
  readonly #pools: Map<Person, Pool>
  readonly #everything: Pool
  /** The number of calls of each operation that were drawn and taken, and the last refusal. */
  readonly counts = new Map<string, { drawn: number; taken: number; refusal: string }>()

  readonly #after: (operation: Writing) => Promise<void>

  private constructor(
    { drawer, after }: { drawer: Drawer; after: (operation: Writing) => Promise<void> },
    world: World,
    pools: Map<Person, Pool>,
    everything: Pool,
  ) {
    this.drawer = drawer
    this.#after = after
    this.#world = world
    this.#pools = pools
    this.#everything = everything
  }

  /** `after` is called after each call, taken or refused. */
  static async of(
    document: OpenApiDocument,
    world: World,
    after: (operation: Writing) => Promise<void>,
  ): Promise<Campaign> {
    const { bench, alone } = world
    const { code, admin } = bench.vault
    const pools = new Map<Person, Pool>()
    for (const person of Object.values(alone)) pools.set(person, await lookAround(document, code, person))
    const everything = await lookAround(document, code, admin)
    const { body: quarantined } = await admin.get(`${bench.url}/deposits?outcome=quarantined`)
    const { body: disabled } = await admin.get('/platform/users?status=disabled')
    for (const pool of [everything, ...pools.values()]) {
      pool.learn('', { segments: { purpose: 'ops' } })
      pool.learn(`${bench.url}/wallet-events`, quarantined)
      pool.learn('/platform/users', disabled)
    }
    const drawer = new Drawer(document, { vault: code, now: bench.test.clock.now })
    return new Campaign({ drawer, after }, world, pools, everything)
  }

  async run(seed: number): Promise<Sequence> {
    const pick = picker(seed)
    const who = round[(seed - 1) % round.length]!
    const { alone, bench, key } = this.#world
    const people = actors[who](alone).map((person) => {
      return {
        person,
        actor: new Actor(bench.test, person, person === alone.administrator ? key : null),
        pool: this.#pools.get(person)!.copy(),
      }
    })
    const deck = this.#deckOf(seed)
    const sequence: Sequence = { who, seed, calls: 0, taken: [] }
    while (sequence.calls < callsMax) {
      const operation = deck.pop() ?? pick(this.drawer.operations)
      const call = await this.#call(operation, { ...pick(people), pick })
      if (call === 'not for them') continue
      sequence.calls += 1
      if (call === 'refused') continue
      sequence.taken.push(call)
    }
    return sequence
  }

  /** Operations that no sequence got through, by each of them, as often as it takes. */
  async insist(): Promise<Sequence> {
    const pick = picker(0)
    const { alone, bench, key } = this.#world
    const sequence: Sequence = { who: 'together', seed: 0, calls: 0, taken: [] }
    for (const operation of this.untaken()) {
      for (const [name, person] of Object.entries(alone)) {
        const actor = new Actor(bench.test, person, name === 'administrator' ? key : null)
        const calling = { actor, pool: this.#pools.get(person)!, pick }
        const maker = this.#makerOf(operation)
        if (maker !== undefined) await this.#make(maker, calling)
        for (let i = 0; i < insistences && this.#countOf(operation.operationId).taken === 0; i += 1) {
          const call = await this.#call(operation, calling)
          // A draw may name what this person has not seen; the next draw may name what they made.
          if (call === 'not for them') continue
          sequence.calls += 1
          if (call !== 'refused') sequence.taken.push(call)
        }
      }
    }
    return sequence
  }

  /** Creates an object, as often as it takes. */
  async #make(maker: Writing, calling: Calling): Promise<void> {
    for (let i = 0; i < insistences; i += 1) if ((await this.#call(maker, calling)) !== 'refused') return
  }

  /** Returns the operation that creates an object for this one, such as `createDirectory` for `rotateDirectoryToken`. */
  #makerOf({ path }: Writing): Writing | undefined {
    const [collection, ...rest] = path.split('/{id}')
    return rest.length === 0
      ? undefined
      : this.drawer.operations.find((other) => other.method === 'post' && other.path === collection)
  }

  untaken(): Writing[] {
    return this.drawer.operations.filter(({ operationId }) => this.#countOf(operationId).taken === 0)
  }

  /** The part of all operations, shuffled for the round, that is for this sequence of the same who. */
  #deckOf(seed: number): Writing[] {
    const place = (seed - 1) % round.length
    const same = round.flatMap((who, i) => (who === round[place] ? [i] : []))
    const pick = picker(1_000_000 + Math.floor((seed - 1) / round.length))
    const left = [...this.drawer.operations]
    const shuffled = this.drawer.operations.map(() => left.splice(left.indexOf(pick(left)), 1)[0]!)
    const deck = shuffled.filter((_, i) => i % same.length === same.indexOf(place))
    // Drawn last, because a hold on a person may suspend the one who places it.
    return deck.sort((a, b) => Number(b.operationId === 'placeHold') - Number(a.operationId === 'placeHold'))
  }

  async #call(operation: Writing, calling: Calling): Promise<Call | 'refused' | 'not for them'> {
    const call = await this.#attempt(operation, calling)
    await this.#after(operation)
    return call
  }

  async #attempt(operation: Writing, { actor, pool, pick }: Calling): Promise<Call | 'refused' | 'not for them'> {
    let faulty: Faulty = {}
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      const drawn = this.drawer.draw(operation, pick(tenth) ? this.#everything : pool, pick, faulty)
      if (attempt === 0 && drawn.path.split('/').includes('none')) return 'not for them'
      const answer = await actor.send(drawn)
      const { operationId, method, path, body } = drawn
      const text = `${operationId} ${path} ${Buffer.isBuffer(body) ? 'image' : JSON.stringify(body)}`
      expect(answer.status, `${text} ${JSON.stringify(answer.body)}`).not.toBe(500)
      const { reason = '' } = (answer.body ?? {}) as { reason?: string }
      if (notFor.has(reason)) return 'not for them'
      if (attempt === 0) this.#countOf(operationId).drawn += 1
      if (answer.status < 300) {
        this.#countOf(operationId).taken += 1
        if (method === 'post') pool.learn(path, answer.body)
        return { drawn, status: answer.status, text: `${text}: ${answer.status}` }
      }
      this.#countOf(operationId).refusal = `${answer.status} ${JSON.stringify(answer.body)} ${text}`
      faulty = { ...faulty, ...faultyOf(answer, body) }
    }
    return 'refused'
  }

  #countOf(operationId: string) {
    const count = this.counts.get(operationId) ?? { drawn: 0, taken: 0, refusal: '' }
    this.counts.set(operationId, count)
    return count
  }
}

type Calling = { actor: Actor; pool: Pool; pick: Pick }

/** Reasons of refusals that say who the caller is, and not what they asked for. */
const notFor = new Set(['not_a_member', 'platform_administrator_required', 'person_required', 'caller_held'])
const tenth = [true, ...Array<boolean>(9).fill(false)]
