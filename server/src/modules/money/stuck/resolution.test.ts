import { describe, expect, it } from 'vitest'
import type { TransactionState, TransferStatus } from '../../registry/wallet-service/answers.ts'
import type { Payload } from '../orders/payload.ts'
import { judge, type ResolutionOutcome, type StuckTransfer, type WalletAnswers } from './resolution.ts'

const order: Payload = {
  transferId: 't1',
  vaultId: 'v1',
  initiatorId: 'u1',
  fromAddressId: 'a1',
  fromAddress: '0xAAAA000000000000000000000000000000000001',
  network: 'ethereum',
  coinType: 60,
  derivationPath: 'm/44/60/0/1',
  toAddress: '0xBBBB000000000000000000000000000000000002',
  tokenId: 'k1',
  contractAddress: '0xCCCC000000000000000000000000000000000003',
  amount: '40',
}
const stuck = (changes: Partial<StuckTransfer> = {}): StuckTransfer => ({
  order,
  status: 'pending',
  knownTxHash: null,
  knownTxIndex: null,
  earlierTxHashes: [],
  isOfPayout: false,
  lasting: null,
  ...changes,
})
const transfer = (changes: Partial<TransferStatus> = {}): TransferStatus => ({
  status: 'broadcast',
  txHash: '0xaa',
  fee: null,
  feePaidBy: null,
  confirmations: 0,
  blockTime: null,
  failureReason: null,
  ...changes,
})
const payment = (changes: Partial<TransactionState['payments'][number]> = {}) => ({
  index: 0,
  fromAddress: order.fromAddress,
  toAddress: order.toAddress.toLowerCase(),
  contractAddress: order.contractAddress,
  amount: '40',
  ...changes,
})
const transaction = (changes: Partial<TransactionState> = {}): TransactionState => ({
  hash: '0xAB',
  status: 'mined',
  from: order.fromAddress,
  nonce: 3,
  confirmations: 12,
  blockTime: '2026-01-31T09:30:00.000Z',
  fee: '21000',
  payments: [payment()],
  ...changes,
})
const answers = (changes: Partial<WalletAnswers> = {}): WalletAnswers => ({
  transfer: null,
  transaction: null,
  replacement: null,
  earlier: [],
  ...changes,
})

/** Returns the proven step, or the message of the refusal. */
function judged(
  outcome: ResolutionOutcome,
  walletAnswers: Partial<WalletAnswers>,
  changes: Partial<StuckTransfer> = {},
) {
  const verdict = judge(outcome, stuck(changes), answers(walletAnswers))
  return 'refusal' in verdict ? verdict.refusal : [verdict.proof, verdict.step]
}

describe('settle', () => {
  it('accepts a mined transaction with this sender, recipient, token and amount', () => {
    expect(judged('settle', { transaction: transaction() })).toEqual([
      'paid',
      {
        kind: 'settle',
        txHash: '0xab',
        indexes: [],
        fee: 21_000n,
        feePaidBy: null,
        blockTime: new Date('2026-01-31T09:30:00.000Z'),
      },
    ])
  })

  const other = '0xDDDD000000000000000000000000000000000004'
  it.each<[string, Partial<TransactionState> | null, string]>([
    ['an unknown transaction', null, 'does not know the transaction'],
    ['a pending transaction', { status: 'pending' }, 'as pending, not as mined'],
    ['a reverted transaction', { status: 'failed', payments: [] }, 'as failed, not as mined'],
    ['a transaction of another sender', { from: other }, 'its sender is another'],
    ['a transaction without a sender', { from: null }, 'its sender is another'],
    ['a transaction that pays nobody', { payments: [] }, 'pays nothing to this recipient'],
    ['a payment to another recipient', { payments: [payment({ toAddress: other })] }, 'pays nothing to this recipient'],
    ['a payment of the coin', { payments: [payment({ contractAddress: null })] }, 'pays another token'],
    ['a payment of another amount', { payments: [payment({ amount: '41' })] }, 'pays another amount'],
    ['a payment from another address', { payments: [payment({ fromAddress: other })] }, 'from another address'],
  ])('refuses %s with a reason', (_name, changes, words) => {
    expect(judged('settle', { transaction: changes === null ? null : transaction(changes) })).toContain(words)
  })
})

describe('release', () => {
  it('accepts a failure that the wallet service reports, with any earlier hash', () => {
    const failed = transfer({ status: 'failed', failureReason: 'REVERTED: so it is', fee: '9' })
    expect(judged('release', { transfer: failed }, { knownTxHash: '0xbb' })).toEqual([
      'failed',
      { kind: 'fail', txHash: '0xaa', txIndex: null, fee: 9n, feePaidBy: null, reason: 'REVERTED: so it is' },
    ])
  })

  it('accepts the proof that another mined transaction used the nonce', () => {
    const replaced = { transfer: transfer(), replacement: transaction({ hash: '0xCC', payments: [] }) }
    expect(judged('release', replaced, { knownTxHash: '0xaa' })).toEqual([
      'nonce_used',
      expect.objectContaining({ kind: 'fail', txHash: '0xaa' }),
    ])
  })

  it('accepts a transaction of a forgotten transfer that was mined and reverted', () => {
    const reverted = transaction({ hash: '0xaa', status: 'failed', payments: [] })
    expect(judged('release', { transaction: reverted }, { knownTxHash: '0xaa' })).toEqual([
      'failed',
      expect.objectContaining({ kind: 'fail', fee: 21_000n }),
    ])
  })

  it.each<[string, Partial<WalletAnswers>, string]>([
    ['a transfer that the wallet service forgot', {}, 'does not prove'],
    ['a transfer that waits', { transfer: transfer() }, 'as broadcast'],
    ['a transfer that is queued', { transfer: transfer({ status: 'queued', txHash: null }) }, 'as queued'],
    ['a transfer that was paid', { transfer: transfer({ status: 'confirmed' }) }, 'as confirmed'],
    ['a failure of another amount', { transfer: transfer({ status: 'failed', amount: '41' }) }, 'another amount'],
    [
      'a failure of a transfer that is paid on the chain',
      { transfer: transfer({ status: 'failed' }), transaction: transaction() },
      'pays what was ordered',
    ],
    [
      'a failure of a transfer that an earlier transaction pays',
      { transfer: transfer({ status: 'failed' }), earlier: [transaction({ hash: '0xCC' })] },
      'pays what was ordered',
    ],
    [
      'a replacement that pays the same',
      { transfer: transfer(), replacement: transaction({ hash: '0xCC' }) },
      'pays what was ordered',
    ],
    [
      'a replacement that is not final',
      { transfer: transfer(), replacement: transaction({ hash: '0xCC', status: 'pending', payments: [] }) },
      'as broadcast',
    ],
    [
      'a replacement of another sender',
      { transfer: transfer(), replacement: transaction({ hash: '0xCC', from: '0xDD', payments: [] }) },
      'as broadcast',
    ],
    [
      'a replacement that is its own transaction',
      { transfer: transfer(), replacement: transaction({ hash: '0xAA', payments: [] }) },
      'as broadcast',
    ],
  ])('refuses %s', (_name, walletAnswers, words) => {
    expect(judged('release', walletAnswers)).toContain(words)
  })
})

/** Transactions of Bitcoin have no sender and no nonce: the owner of the spent outputs is the sender, and `anchor` replaces the nonce. */
describe('on a network without senders', () => {
  const anchor = { txHash: 'A1'.repeat(32), index: 2 }
  const output = (changes: object = {}) => ({ ...anchor, address: order.fromAddress, amount: '50', ...changes })
  const spends = (...spent: ReturnType<typeof output>[]) => transaction({ from: null, nonce: null, spent })

  it('settles with a transaction that spends outputs of the sender only', () => {
    expect(judged('settle', { transaction: spends(output(), output({ index: 3 })) })).toEqual([
      'paid',
      expect.objectContaining({ kind: 'settle', fee: 21_000n, indexes: [0] }),
    ])
    const payments = [0, 1, 2].map((index) => payment({ index, amount: index === 1 ? '41' : '40' }))
    expect(judged('settle', { transaction: { ...spends(output()), payments } })).toEqual([
      'paid',
      expect.objectContaining({ indexes: [0, 2] }),
    ])
  })

  it.each<[string, TransactionState]>([
    ['nothing', spends()],
    ['an output of somebody else', spends(output(), output({ address: '0xDD' }))],
    ['an output of an unknown address', spends(output({ address: null }))],
  ])('does not settle with a transaction that spends %s', (_spent, other) => {
    expect(judged('settle', { transaction: other })).toContain('its sender is another')
  })

  it('releases a transfer whose output another mined transaction spent, and says so', () => {
    const spent = { ...spends(output({ txHash: 'a1'.repeat(32), address: null })), hash: 'cc'.repeat(32), payments: [] }
    const replaced = { transfer: transfer({ anchor }), replacement: spent }
    expect(judged('release', replaced, { knownTxHash: '0xaa' })).toEqual([
      'nonce_used',
      expect.objectContaining({
        txHash: '0xaa',
        reason: `REPLACED: its output was spent by the transaction ${spent.hash}`,
      }),
    ])
  })

  it.each<[string, Partial<WalletAnswers>]>([
    ['names no output', { transfer: transfer(), replacement: { ...spends(output()), hash: 'cc', payments: [] } }],
    [
      'names an output that stays',
      { transfer: transfer({ anchor }), replacement: { ...spends(output({ index: 3 })), hash: 'cc', payments: [] } },
    ],
    [
      'names a replacement that is not final',
      {
        transfer: transfer({ anchor }),
        replacement: { ...spends(output()), hash: 'cc', payments: [], status: 'pending' },
      },
    ],
  ])('releases nothing when the wallet service %s', (_answer, walletAnswers) => {
    expect(judged('release', walletAnswers)).toContain('as broadcast')
  })

  /** The transfer spends `top`, an output of a lost transaction that spends `bottom`. */
  const [top, bottom] = [
    { txHash: 'b2'.repeat(32), index: 0 },
    { txHash: 'b3'.repeat(32), index: 1 },
  ]
  const builtOn = (
    changes: Partial<WalletAnswers> = {},
    outputs: { txHash: string; index: number }[] = [top, bottom],
  ) => ({
    transfer: transfer({ anchor, replacedBy: { hash: 'cc'.repeat(32), outputs } }),
    replacement: { ...spends(output(bottom)), hash: 'cc'.repeat(32), payments: [] },
    lost: [],
    ...changes,
  })

  it('releases a transfer that builds on a transaction that another mined transaction made impossible', () => {
    const step = (words: string) => expect.objectContaining({ reason: expect.stringContaining(words) })
    expect(judged('release', builtOn())).toEqual(['nonce_used', step('an output that it builds on was spent by')])
    const waiting = { ...spends(output(bottom)), hash: top.txHash, payments: [], status: 'pending' as const }
    expect(judged('release', builtOn({ lost: [waiting] }))).toEqual(['nonce_used', step('an output that it builds on')])
    // Every transaction of the transfer spends more outputs than the anchor.
    expect(judged('release', builtOn({}, [bottom]))).toEqual(['nonce_used', step('REPLACED: its output was spent')])
  })

  it.each<[string, Partial<WalletAnswers>]>([
    ['the outputs lead elsewhere', builtOn({}, [bottom, top])],
    ['its parent was mined', builtOn({ lost: [{ ...spends(output(bottom)), hash: top.txHash, payments: [] }] })],
    ['it is not signed', builtOn({ transfer: transfer({ replacedBy: { hash: 'cc'.repeat(32), outputs: [bottom] } }) })],
  ])('releases nothing when %s', (_case, walletAnswers) => {
    expect(judged('release', walletAnswers)).toContain('as broadcast')
  })

  it('does not hand a transfer over again while its transaction waits', () => {
    const waiting = { ...spends(output()), payments: [], status: 'pending' as const }
    expect(judged('resume', { transaction: waiting }, { knownTxHash: '0xab' })).toContain('not final yet')
  })
})

describe('resume', () => {
  it('asks again about a transfer that the wallet service has', () => {
    expect(judged('resume', { transfer: transfer() })).toEqual(['known', { kind: 'continue', phase: 'submitted' }])
    expect(judged('resume', { transfer: transfer() }, { knownTxHash: '0xaa' })).toEqual([
      'known',
      { kind: 'continue', phase: 'broadcast' },
    ])
  })

  it('hands over again a transfer that the wallet service has forgotten, unless it is paid or may be', () => {
    const again = ['unknown_to_wallet', { kind: 'continue', phase: 'submitting' }]
    expect(judged('resume', {})).toEqual(again)
    expect(judged('resume', {}, { knownTxHash: '0xab' })).toEqual(again)
    expect(judged('resume', { transaction: transaction() }, { knownTxHash: '0xab' })).toContain('settle the transfer')
    const waiting = transaction({ status: 'pending', payments: [] })
    expect(judged('resume', { transaction: waiting }, { knownTxHash: '0xab' })).toContain('not final yet')
  })

  it('hands nothing over again while an earlier transaction of the transfer waits, also where its sender is not told', () => {
    const spent = [{ txHash: 'a1'.repeat(32), index: 2, address: '0xDD', amount: '50' }]
    const refused = (changes: Partial<TransactionState>) =>
      judged(
        'resume',
        { earlier: [transaction({ status: 'pending', payments: [], ...changes })] },
        { knownTxHash: '0xab' },
      )
    for (const changes of [{}, { from: null }, { from: null, spent: [{ ...spent[0]!, address: null }] }])
      expect(refused(changes)).toContain('not final yet')
    const again = ['unknown_to_wallet', { kind: 'continue', phase: 'submitting' }]
    expect(refused({ from: '0xDD' })).toEqual(again)
    expect(refused({ from: null, spent })).toEqual(again)
  })

  it('refuses a transfer that would halt again, and a transfer that differs from its record for good', () => {
    expect(judged('resume', { transfer: transfer({ amount: '41' }) })).toContain('It would be halted again')
    expect(judged('resume', {}, { lasting: 'its votes were changed' })).toContain('its votes were changed')
  })
})

describe('a resolution by the record', () => {
  it('cancels a transfer that waits for votes or lets it wait again, and never pays it', () => {
    const waits = { status: 'awaiting_approval' } as const
    expect(judged('release', {}, waits)).toEqual(['never_handed_over', { kind: 'cancel' }])
    expect(judged('resume', {}, waits)).toEqual(['waits_for_votes', { kind: 'continue', phase: 'waiting' }])
    expect(judged('settle', { transaction: transaction() }, waits)).toContain('waits for votes')
    expect(judged('release', { transfer: transfer() }, waits)).toContain('although it waits for votes')
    expect(judged('release', {}, { ...waits, isOfPayout: true })).toContain('part of a payout')
  })

  it.each(['confirmed', 'failed', 'rejected', 'cancelled'] as const)('only restores a %s transfer', (status) => {
    expect(judged('resume', {}, { status })).toEqual(['ended', { kind: 'restore' }])
    expect(judged('release', { transfer: transfer({ status: 'failed' }) }, { status })).toContain(
      `is already ${status}`,
    )
    expect(judged('settle', { transaction: transaction() }, { status })).toContain(`is already ${status}`)
  })
})
