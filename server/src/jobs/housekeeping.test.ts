import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestApp, type TestApp } from '../testing/app.ts'
import { deleteExpiredRows } from './housekeeping.ts'

const day = 86_400_000
let test: TestApp
beforeAll(async () => {
  test = await createTestApp()
})
afterAll(() => test.close())

describe('housekeeping', () => {
  it('removes expired rows and leaves the rest', async () => {
    const { db } = test.deps
    const { userId } = await test.signIn('person@example.org')
    const at = (milliseconds: number) => new Date(test.clock.now().getTime() + milliseconds)
    const session = { token_hash: Buffer.alloc(1), user_id: userId, created_at: at(-day), last_seen_at: at(-day) }
    await db
      .insertInto('sessions')
      .values([
        { ...session, id: 'idle', token_hash: Buffer.from('1'), expires_at: at(-1), ends_at: at(day) },
        { ...session, id: 'ended', token_hash: Buffer.from('2'), expires_at: at(day), ends_at: at(-1) },
      ])
      .execute()
    const link = { email: 'person@example.org', created_at: at(-day) }
    await db
      .insertInto('magic_links')
      .values([
        { ...link, token_hash: Buffer.from('old'), expires_at: at(-1) },
        { ...link, token_hash: Buffer.from('new'), expires_at: at(60_000) },
      ])
      .execute()
    const attempt = { email_hash: Buffer.from('x'), sender: '::1' }
    await db
      .insertInto('sign_in_attempts')
      .values([
        { ...attempt, attempted_at: at(-day - 1_000) },
        { ...attempt, attempted_at: at(-day + 60_000) },
      ])
      .execute()

    const mail = { request: '{}', created_at: at(-15 * day) }
    await db
      .insertInto('queued_mails')
      .values([
        { ...mail, id: 'given up' },
        { ...mail, id: 'given up lately', created_at: at(-13 * day) },
        { ...mail, id: 'waits', next_attempt_at: at(day) },
      ])
      .execute()

    await deleteExpiredRows(test.deps)

    const mails = await db.selectFrom('queued_mails').select('id').orderBy('id').execute()
    expect(mails.map(({ id }) => id)).toEqual(['given up lately', 'waits'])
    expect(await db.selectFrom('sessions').select('user_id').execute()).toHaveLength(1)
    const links = await db.selectFrom('magic_links').select('token_hash').execute()
    expect(links.map((row) => row.token_hash.toString())).toEqual(['new'])
    expect(await db.selectFrom('sign_in_attempts').select('sender').execute()).toHaveLength(1)
  })

  it('removes more rows than a transaction may delete, and leaves the work to a node that already does it', async () => {
    const { db } = test.deps
    const fill = sql`insert into sign_in_attempts select 'x', '::1', now() - interval '2 days' from generate_series(1, 10500)`
    const count = async () => (await db.selectFrom('sign_in_attempts').select('sender').execute()).length
    await fill.execute(db)
    await db.transaction().execute(async (trx) => {
      await sql`select pg_advisory_xact_lock(hashtextextended('strongroom housekeeping', 0))`.execute(trx)
      await deleteExpiredRows(test.deps)
    })
    expect(await count()).toBe(10_501)
    await deleteExpiredRows(test.deps)
    expect(await count()).toBe(1)
  })
})
