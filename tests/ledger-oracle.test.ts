import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { deliverDueTransfers } from '../server/src/modules/money/delivery/deliver.ts'
import { postOutstandingFees } from '../server/src/modules/money/delivery/fees.ts'
import { expireTransfers } from '../server/src/modules/money/transfers/transfer-votes.ts'
import { verifyLedger } from '../server/src/modules/money/verifications/verify-ledger.ts'
import { campaignOf } from '../server/src/testing/campaign.ts'
import { fakeAddress, fakeTxHash } from '../server/src/testing/fake-wallet.ts'
import { createAddress, usdtContract } from '../server/src/testing/fixtures.ts'
import { createTransferBench, type TransferBench } from '../server/src/testing/transfer-bench.ts'

/**
 * Compares the service with a small model: random commands run in random batches, and the commands of a batch run
 * concurrently. Commands whose order within a batch could change the outcome are on different addresses or in different
 * batches, so that the model needs neither a clock nor locks.
 */

const addressesPerRun = 3
const { runs, seed } = campaignOf('LEDGER', { runs: 10, seed: 5 })

type Command =
  | { type: 'deposit'; address: number; coin: boolean; amount: number; copies: number; contradicts: boolean }
  | { type: 'order'; address: number; coin: boolean; amount: number; kind: 'small' | 'large' | 'blocked' }
  | { type: 'vote'; pick: number; decision: 'approve' | 'reject' | 'cancel' | 'expire' }
  | { type: 'wallet'; pick: number; outcome: 'confirm' | 'fail'; fee: number; paidByOther: boolean }
  | { type: 'adjust'; address: number; coin: boolean; amount: number }

/** Raw units, as the model counts them. */
type Held = { available: bigint; reserved: bigint }
type Transfer = { id: string; address: number; token: Token; amount: bigint; status: 'waiting' | 'pending' }
type Token = 'USDT' | 'ETH'

let bench: TransferBench
const decimals = { USDT: 6, ETH: 18 }
const unit = (token: Token) => 10n ** BigInt(decimals[token])

beforeAll(async () => {
  bench = await createTransferBench()
})
afterAll(() => bench.close())

const address = fc.nat({ max: addressesPerRun - 1 })
const commandOf: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('deposit' as const),
      address,
      coin: fc.boolean(),
      amount: fc.integer({ min: 1, max: 400 }),
      copies: fc.integer({ min: 1, max: 3 }),
      contradicts: fc.boolean(),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constant('order' as const),
      address,
      coin: fc.boolean(),
      amount: fc.integer({ min: 1, max: 100 }),
      kind: fc.constantFrom('small' as const, 'large' as const, 'large' as const, 'blocked' as const),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('vote' as const),
      pick: fc.nat(),
      decision: fc.constantFrom('approve' as const, 'reject' as const, 'cancel' as const, 'expire' as const),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('wallet' as const),
      pick: fc.nat(),
      outcome: fc.constantFrom('confirm' as const, 'confirm' as const, 'fail' as const),
      fee: fc.nat({ max: 50 }),
      paidByOther: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('adjust' as const),
      address,
      coin: fc.boolean(),
      amount: fc.integer({ min: -200, max: 200 }).filter((amount) => amount !== 0),
    }),
  },
)
const commands = fc.array(commandOf, { minLength: 3, maxLength: 10, size: 'max' })
const batchesOf = fc.array(commands, { minLength: 5, maxLength: 9, size: 'max' })

/** A payment whose fee is paid by its address, because a run of random commands might contain none. */
const paid: Command[][] = [
  [true, false].map((coin) => ({ type: 'deposit', address: 0, coin, amount: 400, copies: 1, contradicts: false })),
  [{ type: 'order', address: 0, coin: false, amount: 50, kind: 'small' }],
  [{ type: 'wallet', pick: 0, outcome: 'confirm', fee: 5, paidByOther: false }],
]

it('T5 the ledger equals a model of it after concurrent commands', async () => {
  const settings = { seed, numRuns: runs, endOnFailure: true, examples: [[paid]] as [Command[][]][] }
  await fc.assert(fc.asyncProperty(batchesOf, runAgainstModel), settings)
  expect((await verifyLedger(bench.test.deps.db)).differences).toEqual([])
  const kinds = await bench.sql('select array_agg(distinct kind order by kind) as seen from ledger_entries')
  expect(kinds[0].seen).toEqual(['adjust', 'deposit', 'fee', 'release', 'reserve', 'settle'])
})

async function runAgainstModel(batches: Command[][]): Promise<void> {
  const wire: { id: string; address: string }[] = []
  for (let i = 0; i < addressesPerRun; i += 1) wire.push(await createAddress(bench.owner, { token: 'USDT' }))
  const model = wire.map(() => ({ USDT: null as Held | null, ETH: null as Held | null }))
  const fees = wire.map(() => [] as bigint[])
  const open: Transfer[] = []
  /**
   * Accounts with a quarantined event: two people decide what is credited there, so one administrator cannot add funds.
   */
  const disputed = new Set<string>()
  const held = (index: number, token: Token): Held => {
    const of = model[index]!
    of[token] ??= { available: 0n, reserved: 0n }
    return of[token]
  }

  for (const [number, batch] of batches.entries()) {
    const work: (() => Promise<void>)[] = []
    // One debit per account and batch: the model cannot predict which of two would find insufficient funds.
    const debited = new Set<string>()
    const credited = new Set<string>()
    const used = new Set<string>()
    // The model cannot predict whether an adjustment comes before or after a contradiction of the same batch.
    const [adjusted, contradicted] = [new Set<string>(), new Set<string>()]
    const mayTake = (index: number, token: Token) =>
      !debited.has(`${index} ${token}`) && !credited.has(`${index} ${token}`)
    const mayGive = (index: number, token: Token) => !debited.has(`${index} ${token}`)
    const takes = (index: number, token: Token): boolean => {
      const isFree = mayTake(index, token)
      if (isFree) debited.add(`${index} ${token}`)
      return isFree
    }
    const gives = (index: number, token: Token): boolean => {
      const isFree = mayGive(index, token)
      if (isFree) credited.add(`${index} ${token}`)
      return isFree
    }
    let isWalletBusy = false

    for (const [place, command] of batch.entries()) {
      if (command.type === 'deposit') {
        const { address: index, amount, copies } = command
        const token: Token = command.coin ? 'ETH' : 'USDT'
        if (!gives(index, token)) continue
        const contradicts = command.contradicts && !adjusted.has(`${index} ${token}`)
        if (contradicts) contradicted.add(`${index} ${token}`)
        held(index, token).available += BigInt(amount) * unit(token)
        const tx = {
          network: 'ethereum',
          asset: token === 'ETH' ? null : usdtContract,
          toAddress: wire[index]!.address,
          txHash: fakeTxHash(`${wire[0]!.id} ${number} ${place}`),
        }
        const send = async (sent: string, outcomes: string[]) => {
          const answer = await bench.test.anonymous.post('//webhooks/wallet', {
            kind: 'TOPUP',
            tx: { ...tx, amount: sent },
          })
          expect(answer.status).toBe(200)
          expect(outcomes).toContain(answer.body.outcome)
        }
        work.push(async () => {
          await Promise.all(Array.from({ length: copies }, () => send(`${amount}`, ['credited', 'duplicate'])))
          if (contradicts) await send(`${amount + 1}`, ['quarantined'])
        })
      } else if (command.type === 'adjust') {
        const token: Token = command.coin ? 'ETH' : 'USDT'
        const { address: index } = command
        const account = `${index} ${token}`
        if (contradicted.has(account)) continue
        if (!(command.amount > 0 ? gives(index, token) : takes(index, token))) continue
        const raw = BigInt(command.amount) * unit(token)
        adjusted.add(account)
        const isForTwo = command.amount > 0 && disputed.has(account)
        const isPossible = !isForTwo && (model[index]![token]?.available ?? 0n) + raw >= 0n
        if (isPossible) held(index, token).available += raw
        work.push(async () => {
          const tokenId = bench.vault.tokens[token === 'ETH' ? 'eth' : 'usdt'].id
          const answer = await bench.vault.admin.post('/vaults/main-vault/adjustments', {
            addressId: wire[index]!.id,
            tokenId,
            amount: `${command.amount}`,
            reason: 'Oracle',
          })
          expect(answer.status).toBe(isPossible ? 201 : 409)
        })
      } else if (command.type === 'order') {
        const { address: index, kind } = command
        const token: Token = command.coin ? 'ETH' : 'USDT'
        if (!takes(index, token)) continue
        const amount = command.amount + { small: 0, large: 100, blocked: 1_000_000 }[kind]
        const raw = BigInt(amount) * unit(token)
        const status = kind === 'blocked' ? 403 : (model[index]![token]?.available ?? 0n) >= raw ? 201 : 409
        if (status === 201) {
          held(index, token).available -= raw
          held(index, token).reserved += raw
        }
        work.push(async () => {
          const answer = await bench.order(wire[index]!.id, `${amount}`, { token })
          expect(answer.status).toBe(status)
          if (status !== 201) return
          expect(answer.body.status).toBe(kind === 'large' ? 'awaiting_approval' : 'pending')
          open.push({
            id: answer.body.id,
            address: index,
            token,
            amount: raw,
            status: kind === 'large' ? 'waiting' : 'pending',
          })
        })
      } else if (command.type === 'vote') {
        const candidates = open.filter(({ id, status }) => status === 'waiting' && !used.has(id))
        const transfer = candidates[command.pick % Math.max(candidates.length, 1)]
        if (transfer === undefined) continue
        if (command.decision !== 'approve' && !gives(transfer.address, transfer.token)) continue
        used.add(transfer.id)
        work.push(() => resolveVote(transfer, command.decision))
        if (command.decision === 'approve') transfer.status = 'pending'
        else release(transfer)
      } else {
        const candidates = open.filter(({ id, status }) => status === 'pending' && !used.has(id))
        const transfer = candidates[command.pick % Math.max(candidates.length, 1)]
        if (transfer === undefined) continue
        const { outcome, paidByOther } = command
        const { address: index, token } = transfer
        // An internal transfer is also a credit; a fee debits the coin, and needs an account of its own in the batch.
        const hasFee = command.fee > 0 && !paidByOther
        const mayDebit = !hasFee || mayTake(index, 'ETH')
        const mayCredit = outcome === 'confirm' || mayGive(index, token)
        if (!mayDebit || !mayCredit) continue
        if (outcome === 'fail') gives(index, token)
        if (hasFee) debited.add(`${index} ETH`)
        used.add(transfer.id)
        isWalletBusy = true

        const { wallet } = bench.vault
        const fee = BigInt(command.fee) * unit('ETH')
        if (outcome === 'confirm') wallet.confirm(transfer.id, { fee: fee.toString() })
        else wallet.fail(transfer.id, 'REVERTED', fee.toString())
        if (paidByOther) Object.assign(wallet.transfer(transfer.id)!, { feePaidBy: fakeAddress('a gas station') })
        if (outcome === 'confirm') {
          held(index, token).reserved -= transfer.amount
          remove(transfer)
        } else release(transfer)
        const coins = model[index]!.ETH
        if (hasFee && coins !== null && coins.available >= fee) coins.available -= fee
        else if (hasFee) fees[index]!.push(fee)
      }
    }
    for (const account of contradicted) disputed.add(account)
    if (isWalletBusy) {
      bench.test.clock.advance(61_000)
      for (let node = 0; node < 2; node += 1) work.push(async () => void (await deliverDueTransfers(bench.test.deps)))
    }
    await Promise.all(work.map((task) => task()))
    // Everything that is due reaches the wallet service before the next batch.
    await bench.deliver()
    await expectAsModelled()
  }

  // An outstanding fee is posted as soon as it is covered; the order among several is not specified.
  await postOutstandingFees(bench.test.deps)
  for (const [index, outstanding] of fees.entries()) {
    const [row] = await bench.sql(
      'select coalesce(sum(t.fee), 0) as total from transfers t join operations o on o.id = t.id where o.address_id = ' +
        '$1 and t.fee_owed',
      [wire[index]!.id],
    )
    const posted = outstanding.reduce((sum, fee) => sum + fee, 0n) - BigInt(row.total)
    if (posted > 0n) held(index, 'ETH').available -= posted
  }
  await expectAsModelled()
  expect((await verifyLedger(bench.test.deps.db)).differences).toEqual([])

  function remove(transfer: Transfer): void {
    open.splice(open.indexOf(transfer), 1)
  }

  function release(transfer: Transfer): void {
    held(transfer.address, transfer.token).reserved -= transfer.amount
    held(transfer.address, transfer.token).available += transfer.amount
    remove(transfer)
  }

  async function expectAsModelled(): Promise<void> {
    for (const [index, tokens] of model.entries()) {
      const { body } = await bench.owner.get(`/vaults/main-vault/balances?summary=true&addressId=${wire[index]!.id}`)
      const found = Object.fromEntries(
        body.totals.map((total) => [total.token.code, [total.available, total.reserved]]),
      )
      const expected = Object.fromEntries(
        Object.entries(tokens).flatMap(([code, of]) =>
          of === null ? [] : [[code, [of.available.toString(), of.reserved.toString()]]],
        ),
      )
      expect(found).toEqual(expected)
    }
  }
}

async function resolveVote({ id }: Transfer, decision: 'approve' | 'reject' | 'cancel' | 'expire'): Promise<void> {
  if (decision === 'approve') {
    const votes = await Promise.all([
      bench.act(bench.firstApprover, id, 'approve'),
      bench.act(bench.secondApprover, id, 'approve'),
    ])
    expect(votes.map(({ status }) => status)).toEqual([200, 200])
  } else if (decision === 'expire') {
    await bench.endVoting([id])
    await expireTransfers(bench.test.deps)
    expect((await bench.read(id)).failureReason).toBe('APPROVAL_EXPIRED')
  } else {
    expect((await bench.act(decision === 'reject' ? bench.thirdApprover : bench.owner, id, decision)).status).toBe(200)
  }
}
