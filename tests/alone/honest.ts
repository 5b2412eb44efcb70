import { expect } from 'vitest'
import { inTransaction } from '../../server/src/db/transaction.ts'
import { holdConfirmationHours } from '../../server/src/lib/limits.ts'
import { endUnconfirmedHolds } from '../../server/src/modules/money/holds/people.ts'
import { enable } from '../../server/src/modules/people/offboarding/offboarding.ts'
import type { Answer } from '../../server/src/testing/answer.ts'
import type { Person } from '../../server/src/testing/app.ts'
import { linkIn, type Outbox } from '../../server/src/testing/outbox.ts'
import type { World } from './world.ts'

/**
 * The actions of the honest people after somebody acted alone: they sign in by the link of a mail, an operator enables
 * one platform administrator and these enable the others, two administrators release what is held, and the quorum
 * brings the rules back.
 */
export class Honest {
  readonly #world: World
  readonly #outbox: Outbox
  #said = ''

  constructor(world: World, outbox: Outbox) {
    this.#world = world
    this.#outbox = outbox
  }

  /** @throws if something remains that they can undo according to the documentation */
  async recover(version: number, said: string): Promise<void> {
    this.#said = said
    const { bench, honest } = this.#world
    bench.test.clock.advance(recoveryMilliseconds)
    await endUnconfirmedHolds(bench.test.deps)
    await bench.applyDue()
    await this.#enableAll()
    await this.#signInAll(honest.people)
    await this.#releaseAll()
    await this.#bringBack(version)
    for (const person of honest.people) expect((await this.#as(person).get(bench.url)).status, said).toBe(200)
  }

  /** If no honest platform administrator is left, an operator enables one. Two of them enable a member. */
  async #enableAll(): Promise<void> {
    const { bench, honest } = this.#world
    const disabled = async (people: Person[]) => {
      const ids = people.map(({ userId }) => userId)
      const rows = await bench.sql('select id from users where id = any($1) and disabled_at is not null', [ids])
      return people.filter(({ userId }) => rows.some(({ id }) => id === userId))
    }
    for (const { userId } of await disabled(honest.platform)) {
      const { db, clock } = bench.test.deps
      const by = { userId, reason: 'They are wanted', actorId: null, operator: 'root', now: clock() }
      await inTransaction(db, (trx) => enable(trx, by))
    }
    await this.#signInAll(honest.platform)
    const [first, second] = honest.platform.map((person) => this.#as(person))
    for (const { userId } of await disabled(honest.people)) {
      const answer = await first!.post(`/users/${userId}/enable`, { reason: 'They are wanted' })
      // Somebody may have asked for the same before.
      const waiting = (await first!.get('/platform-changes?limit=100')).body.items.find(
        ({ targetId }) => targetId === userId,
      )
      this.#expect(answer, [200, 202, 409])
      if (waiting === undefined) continue
      const by = waiting.createdById === second!.userId ? first! : second!
      this.#expect(await by.post(`/platform-changes/${waiting.id}/confirm`), [200])
    }
    expect(await disabled(honest.people), this.#said).toEqual([])
  }

  readonly #sessions = new Map<string, Person>()

  #as(person: Person): Person {
    return this.#sessions.get(person.userId) ?? person
  }

  async #signInAll(people: Person[]): Promise<void> {
    const { test } = this.#world.bench
    await this.#outbox.clear()
    for (const { email } of people) this.#expect(await test.anonymous.post('/auth/magic-link', { email }), [200])
    await test.sendMails()
    const mails = await this.#outbox.read()
    for (const person of people) {
      const links = mails.filter(({ to, text }) => to === person.email && text.includes('/verify?token='))
      expect(links.length, `${person.email} gets a link\n${this.#said}`).toBeGreaterThan(0)
      const token = linkIn(links.at(-1)!).searchParams.get('token')!
      const answer = await test.anonymous.post('/auth/magic-link/verify', { token })
      this.#expect(answer, [200])
      const client = test.client({ authorization: `Bearer ${answer.body.token}` })
      this.#sessions.set(person.userId, {
        ...client,
        userId: person.userId,
        email: person.email,
        token: answer.body.token,
      })
    }
  }

  /** Two administrators release whatever is held. */
  async #releaseAll(): Promise<void> {
    const { bench, honest } = this.#world
    const [first, second] = honest.people.map((person) => this.#as(person))
    const { items } = (await first!.get(`${bench.url}/holds?active=true&limit=100`)).body
    const people = new Set(honest.people.map(({ userId }) => userId))
    expect(
      items.filter(({ subjectId }) => people.has(subjectId)),
      this.#said,
    ).toEqual([])
    for (const { id } of items) {
      const answer = await first!.post(`${bench.url}/holds/${id}/release`, { reason: 'It was for nothing' })
      if (answer.status === 409) continue
      this.#expect(answer, [202])
      this.#expect(await second!.post(`${bench.url}/approval-requests/${answer.body.request.id}/approve`), [200])
    }
    const left = await first!.get(`${bench.url}/holds?active=true&limit=100`)
    expect(
      left.body.items.map(({ reason }) => reason),
      this.#said,
    ).toEqual([])
  }

  /** The quorum restores the rules, whatever waits or was published. */
  async #bringBack(version: number): Promise<void> {
    const { bench, honest } = this.#world
    const [author, ...voters] = honest.people.slice(0, 3).map((person) => this.#as(person))
    const drafted = await author!.post(`${bench.url}/rules/versions/${version}/rollback`)
    const draft = drafted.status === 201 ? drafted : await this.#newGroup(author!)
    this.#expect(draft, [201])
    const { body } = await author!.post(`${bench.url}/change-sets/${draft.body.id}/submit`)
    const id = body.request?.id ?? ''
    for (const voter of voters) this.#expect(await voter!.post(`${bench.url}/approval-requests/${id}/approve`), [200])
    const { status } = (await author!.get(`${bench.url}/change-sets/${draft.body.id}`)).body
    expect(status, this.#said).toBe('applied')
  }

  /** If nothing must be restored, the quorum makes something new. */
  #newGroup(author: Person) {
    const changes = [{ action: 'policy_group_create', payload: { code: 'afterwards', name: 'Afterwards' } }]
    return author.post(`${this.#world.bench.url}/change-sets`, { title: 'A group', changes })
  }

  #expect({ status, body }: Answer<unknown>, statuses: number[]): void {
    expect(statuses, `${status} ${JSON.stringify(body)}\n${this.#said}`).toContain(status)
  }
}

/** The time after which unconfirmed holds on people have ended. */
export const recoveryMilliseconds = holdConfirmationHours * 3_600_000 + 1
