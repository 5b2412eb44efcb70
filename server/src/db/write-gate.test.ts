import { describe, expect, it } from 'vitest'
import { checkOfGate, createWriteGate, WritesHaltedError } from './write-gate.ts'

/** Returns true if a closed gate refuses the statement. */
function isRefused(text: string): boolean {
  const gate = createWriteGate()
  gate.close()
  const check = checkOfGate(gate)
  try {
    check(text)
    return false
  } catch (error) {
    expect(error).toBeInstanceOf(WritesHaltedError)
    return true
  }
}

describe('a closed gate', () => {
  it.each([
    'begin',
    'insert into mails (id) values ($1)',
    'update "transfers" set phase = $1',
    'with due as (select id from mails for update skip locked) update mails set claimed_at = now() from due',
    'with due as (select id from mails for update) update only "mails" m set claimed_at = now()',
    'WITH gone AS (DELETE FROM sessions RETURNING id) SELECT count(*) FROM gone',
    '/* prepared */ with noted as (insert into notes (id) values ($1) returning id) select id from noted',
  ])('refuses %s', (text) => expect(isRefused(text)).toBe(true))

  it.each([
    'select id from mails',
    '/* heartbeat */ with gone as (delete from heartbeats) insert into heartbeats (node) values ($1)',
    'start transaction isolation level repeatable read read only',
    'with recursive lanes as (select vault_id from deliveries) select vault_id from lanes',
    'with due as (select id, updated_at from mails for update of mails skip locked) select id from due',
    'with due as (select id from mails for no key update nowait) select id from due',
  ])('lets %s pass', (text) => expect(isRefused(text)).toBe(false))

  it('refuses nothing when it is open again', () => {
    const gate = createWriteGate()
    gate.close()
    gate.open()
    expect(() => checkOfGate(gate)('with due as (select 1) delete from mails')).not.toThrow()
  })
})
