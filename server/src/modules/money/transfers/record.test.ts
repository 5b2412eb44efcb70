import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { inTransaction } from '../../../db/transaction.ts'
import { sendNotifications } from '../../../jobs/send-notifications.ts'
import type { Address } from '../../../testing/answer.ts'
import { fakeAddress } from '../../../testing/fake-wallet.ts'
import { createOutbox, type Outbox } from '../../../testing/outbox.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { sealAuditRecords } from '../../record/audit/audit-seals.ts'
import { insertAuditRecord } from '../../record/audit/record.ts'
import { hashPayload } from '../orders/payload.ts'
import { verifyTransfers } from './compare-order.ts'
import { expireTransfers } from './transfer-votes.ts'

let outbox: Outbox
let bench: TransferBench
let address: Address

beforeAll(async () => {
  outbox = await createOutbox()
  bench = await createTransferBench({ DATA_DIR: outbox.dataDir })
})
afterAll(async () => {
  await bench.close()
  await outbox.remove()
})
beforeEach(async () => {
  address = await bench.fundedAddress()
})

const thief = fakeAddress('a thief')

async function waiting(): Promise<string> {
  const { status, body } = await bench.order(address.id, '200')
  expect([status, body.status]).toEqual([201, 'awaiting_approval'])
  expect((await bench.act(bench.firstApprover, body.id, 'approve')).status).toBe(200)
  return body.id
}

async function approved(): Promise<string> {
  const id = await waiting()
  expect((await bench.act(bench.secondApprover, id, 'approve')).body.status).toBe('pending')
  return id
}

/** The findings of `strongroom audit verify` about one transfer. */
async function named(id: string): Promise<string[]> {
  const { differences } = await verifyTransfers(bench.test.deps.db)
  return differences.filter(({ targetId }) => targetId === id).map(({ detail }) => detail)
}

/** Rewrites an order like an attacker who knows how its hash is computed. */
async function forge(id: string, change: object): Promise<void> {
  const [{ payload }] = await bench.sql('select payload from transfers where id = $1', [id])
  const forged = { ...payload, ...change }
  await bench.sql(
    'update transfers set to_address = $2, to_address_key = $3, payload = $4, payload_hash = $5 where id = $1',
    [id, forged.toAddress, forged.toAddress.toLowerCase(), forged, hashPayload(forged)],
  )
  await bench.sql('update operations set amount = $2, initiator_id = $3 where id = $1', [
    id,
    forged.amount,
    forged.initiatorId,
  ])
}

const statement =
  (text: string, ...values: (() => unknown)[]) =>
  (id: string) =>
    bench.sql(text, [id, ...values.map((value) => value())])
const ofAddress = 'where id = (select address_id from operations where id = $1)'
const otherUser = () => bench.thirdApprover.userId

/** Tampering with the rows of an order, the difference that is reported, and how the test restores the rows. */
const rewrites: [what: string, difference: string, change: (id: string) => Promise<unknown>, undo?: string][] = [
  ['recipient, payload and hash', 'its toAddress was changed', (id) => forge(id, { toAddress: thief })],
  ['amount, payload and hash', 'its amount was changed', (id) => forge(id, { amount: '900000000' })],
  ['payload and hash alone', 'its payload was changed', (id) => swapPayload(id)],
  ['initiator, payload and hash', 'its initiatorId was changed', (id) => forge(id, { initiatorId: otherUser() })],
  ['operations.amount', 'its amount was changed', statement('update operations set amount = amount + 1 where id = $1')],
  [
    'operations.token_id',
    'its tokenId was changed',
    statement(`update operations set token_id = $2 where id = $1`, () => bench.vault.tokens.eth.id),
  ],
  [
    'operations.address_id',
    'its derivationPath was changed',
    statement(
      `update operations set address_id = (select id from addresses where id <> address_id limit 1) where id = $1`,
    ),
  ],
  [
    'transfers.contract_address',
    'its contractAddress was changed',
    statement(`update transfers set contract_address = '${fakeAddress('another token')}' where id = $1`),
  ],
  [
    'transfers.to_address_key',
    'the key of its recipient was changed',
    statement(`update transfers set to_address_key = 'x' where id = $1`),
  ],
  [
    'transfers.expires_at',
    'its time to vote was extended',
    statement(`update transfers set expires_at = expires_at + interval '1 day' where id = $1`),
  ],
  [
    'addresses.derivation_path',
    'its derivationPath was changed',
    statement(`update addresses set derivation_path = 'm/0/0/' || id ${ofAddress}`),
  ],
  [
    'addresses.address',
    'its fromAddress was changed',
    statement(`update addresses set address = '${thief}' ${ofAddress}`),
  ],
  [
    'networks.coin_type',
    'its coinType was changed',
    statement('update networks set coin_type = coin_type + 1 where $1::text is not null'),
    'update networks set coin_type = coin_type - 1',
  ],
  [
    'tokens.decimals',
    'the code or the decimals of its token were changed',
    statement(`update tokens set decimals = 12 where code = 'USDT' and $1::text is not null`),
    `update tokens set decimals = 6 where code = 'USDT'`,
  ],
  [
    'operations.counterparty_id',
    'its counterparty was changed',
    statement(`update operations set counterparty_id = 'x' where id = $1`),
  ],
  [
    'the effect of its decision',
    'its decision was changed',
    statement(`update transfers set decision = jsonb_set(decision, '{effect}', '"allow"') where id = $1`),
  ],
  [
    'the facts of its decision',
    'the facts of its decision were changed',
    statement(`update transfers set decision = jsonb_set(decision, '{facts,initiatorId}', '"x"') where id = $1`),
  ],
  [
    'a payload that has no canonical form',
    'its rows or its audit records cannot be read',
    statement(`update transfers set payload = '{"amount":1.5}' where id = $1`),
  ],
  [
    'a lower threshold',
    'its requirements or their voters were changed',
    statement('update approval_requirements set threshold = 1 where subject_id = $1'),
  ],
  [
    'a waived requirement',
    'its requirements or their voters were changed',
    statement('update approval_requirements set bypassed = true where subject_id = $1'),
  ],
  [
    'another voter',
    'its requirements or their voters were changed',
    statement(
      `insert into approval_eligibilities (vault_id, subject_id, user_id, policy_id)
       select vault_id, subject_id, $2, policy_id from approval_requirements where subject_id = $1`,
      () => bench.owner.userId,
    ),
  ],
  [
    'a vote that nobody cast',
    'its votes were changed',
    statement(
      `update approval_voters set decision = 'approve', voted_at = now() where subject_id = $1 and user_id = $2`,
      otherUser,
    ),
  ],
]

async function swapPayload(id: string): Promise<void> {
  const [{ payload }] = await bench.sql('select payload from transfers where id = $1', [id])
  const forged = { ...payload, toAddress: thief }
  await bench.sql('update transfers set payload = $2, payload_hash = $3 where id = $1', [
    id,
    forged,
    hashPayload(forged),
  ])
}

describe('T27 T56 a stored order that differs from its audit record', () => {
  it.each(rewrites)(
    'T56 %s: takes no vote, is never handed over, is halted and named',
    async (_what, difference, change, undo) => {
      const atVote = await waiting()
      const atHandOver = await approved()
      for (const id of [atVote, atHandOver]) expect(await named(id)).toEqual([])
      try {
        await change(atVote)
        if (undo === undefined) await change(atHandOver)

        const reason = `The transfer differs from its audit records: ${difference}`
        for (const [by, verb] of [
          [bench.secondApprover, 'approve'],
          [bench.secondApprover, 'reject'],
          [bench.vault.admin, 'cancel'],
        ] as const) {
          const { status, body } = await bench.act(by, atVote, verb)
          expect([status, body.message, body.details]).toEqual([
            409,
            'The transfer is halted; two administrators must resolve it',
            reason,
          ])
        }
        await bench.deliver()
        for (const id of [atVote, atHandOver]) {
          expect(await named(id)).toEqual([difference])
          const [row] = await bench.sql('select phase, halt_reason from transfers where id = $1', [id])
          expect(row).toEqual({ phase: 'halted', halt_reason: reason })
          expect(await bench.audited('transfer.halted', id)).toBe(1)
          expect(bench.vault.wallet.transfer(id)).toBeNull()
        }
      } finally {
        if (undo !== undefined) await bench.sql(undo)
      }
    },
  )

  it('T56 is still found after its records are sealed, and so is a record that its seal does not hold', async () => {
    const id = await approved()
    await sealAuditRecords(bench.test.deps)
    expect(await named(id)).toEqual([])
    await bench.sql('update audit_records set seal_sequence = 9999 where target_id = $1', [id])
    expect(await named(id)).toEqual([expect.stringMatching(/^audit record \w+: seal 9999 does not hold it$/)])
    await bench.deliver()
    expect(bench.vault.wallet.transfer(id)).toBeNull()
  })

  it('T56 is announced to the administrators by mail, and to nobody else', async () => {
    const id = await waiting()
    await forge(id, { toAddress: thief })
    expect((await bench.act(bench.secondApprover, id, 'approve')).status).toBe(409)
    const notified = await bench.sql(`select user_id from notifications where subject_id = $1 and kind = 'stopped'`, [
      id,
    ])
    expect(notified).toEqual([{ user_id: bench.vault.admin.userId }])
    for (let round = 0; round < 20; round += 1) await sendNotifications(bench.test.deps)
    const messageId = new RegExp(`<${id}-\\d+-${bench.vault.admin.userId}-stopped@`)
    const mails = (await outbox.read()).filter(({ source }) => messageId.test(source))
    expect(mails.map(({ text }) => text)).toEqual([
      expect.stringContaining('The transfer differs from its audit records: its toAddress was changed'),
    ])
  })

  it('T56 cannot be settled, failed, cancelled or expired', async () => {
    const [sent, queued, late] = [await approved(), await approved(), await waiting()]
    await bench.sql('update deliveries set next_attempt_at = null where id = $1', [queued])
    await bench.deliver()
    bench.vault.wallet.confirm(sent)
    await bench.sql('update transfers set to_address_key = $2 where id = any($1)', [[sent, queued, late], 'x'])
    await bench.deliver()
    expect((await bench.act(bench.owner, queued, 'cancel')).status).toBe(409)
    await bench.endVoting([late])
    await expireTransfers(bench.test.deps)
    const rows = await bench.sql('select phase from transfers where id = any($1)', [[sent, queued, late]])
    expect(rows.map(({ phase }) => phase)).toEqual(['halted', 'halted', 'halted'])
    expect(await bench.balances(address.id)).toEqual({ available: '400', reserved: '600' })
  })
})

describe('T57 a status that was written as a row', () => {
  it.each([
    [
      'pending without votes',
      `status = 'pending'`,
      'it is pending, and according to its audit records awaiting_approval',
    ],
    ['confirmed', `status = 'confirmed'`, 'it is confirmed, and according to its audit records awaiting_approval'],
    ['in the queue', `status = status`, 'it is awaiting_approval and in the phase queued'],
  ])('T57 %s: is never handed over, and named', async (_what, assignment, difference) => {
    const id = await waiting()
    await bench.sql(`update operations set ${assignment} where id = $1`, [id])
    await bench.sql(`update transfers set phase = 'queued' where id = $1`, [id])
    await bench.enqueue(id)
    expect(await named(id)).toEqual([difference])
    await bench.deliver()
    expect(bench.vault.wallet.transfer(id)).toBeNull()
    expect(await bench.sql('select phase, halt_reason from transfers where id = $1', [id])).toEqual([
      { phase: 'halted', halt_reason: `The transfer differs from its audit records: ${difference}` },
    ])
  })

  it('T57 a finished transfer that is made pending again is not sent again', async () => {
    const id = await approved()
    await bench.deliver()
    bench.vault.wallet.confirm(id)
    await bench.deliver()
    bench.vault.wallet.forget(id)
    await bench.sql(`update operations set status = 'pending' where id = $1`, [id])
    await bench.sql(`update transfers set phase = 'queued' where id = $1`, [id])
    await bench.enqueue(id)
    await bench.deliver()
    expect(bench.vault.wallet.transfer(id)).toBeNull()
    expect(await named(id)).toEqual(['it is pending, and according to its audit records confirmed'])
  })

  it('T57 a finished transfer that is made to wait again takes no vote, and is halted', async () => {
    const id = await waiting()
    expect((await bench.act(bench.owner, id, 'cancel')).status).toBe(200)
    await bench.sql(`update operations set status = 'awaiting_approval' where id = $1`, [id])
    expect((await bench.act(bench.secondApprover, id, 'approve')).status).toBe(409)
    const reason = 'it is awaiting_approval, and according to its audit records cancelled'
    expect(await bench.sql('select phase, halt_reason from transfers where id = $1', [id])).toEqual([
      { phase: 'halted', halt_reason: `The transfer differs from its audit records: ${reason}` },
    ])
  })

  it('T57 a release that was recorded without the required votes is refused', async () => {
    const id = await waiting()
    const vaultId = bench.vault.id
    const details = { from: 'awaiting_approval', to: 'pending', reason: null, txHash: null }
    await inTransaction(bench.test.deps.db, (trx) =>
      insertAuditRecord(trx, {
        vaultId,
        actorId: bench.secondApprover.userId,
        action: 'transfer.released',
        targetType: 'transfer',
        targetId: id,
        details,
        now: bench.test.clock.now(),
      }),
    )
    await bench.sql(`update operations set status = 'pending' where id = $1`, [id])
    await bench.sql(`update transfers set phase = 'queued' where id = $1`, [id])
    await bench.enqueue(id)
    expect(await named(id)).toEqual(['it went on without the required votes'])
    await bench.deliver()
    expect(bench.vault.wallet.transfer(id)).toBeNull()
  })

  it('T57 a transfer without rows is named', async () => {
    const id = await waiting()
    await bench.sql('delete from transfers where id = $1', [id])
    expect(await named(id)).toEqual(['its row is gone'])
  })
})
