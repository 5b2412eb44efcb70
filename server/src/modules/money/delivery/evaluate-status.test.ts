import { describe, expect, it } from 'vitest'
import type { Payload } from '../orders/payload.ts'
import { evaluateStatus, type WalletStatus } from './evaluate-status.ts'

const order: Payload = {
  transferId: 'c1',
  vaultId: 'c2',
  initiatorId: 'c3',
  fromAddressId: 'c4',
  fromAddress: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  network: 'ethereum',
  coinType: 60,
  derivationPath: 'm/44/60/1/0',
  toAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  tokenId: 'c5',
  contractAddress: '0xdAC17F958D2ee523a2206206994597C13D831ec7',
  amount: '1000000',
}
const hash = `0x${'ab'.repeat(32)}`
const unknown = { txHash: null, txIndex: null }
const known = { txHash: hash, txIndex: 2 }
const reported = (more: Partial<WalletStatus> = {}): WalletStatus => ({
  status: 'queued',
  txHash: null,
  fee: null,
  feePaidBy: null,
  blockTime: null,
  failureReason: null,
  ...more,
})

describe('the status that a wallet service reports for a transfer', () => {
  it.each([
    ['queued', reported(), { kind: 'wait', txHash: null }],
    ['signed and queued', reported({ txHash: hash }), { kind: 'wait', txHash: hash }],
    [
      'a hash in capitals',
      reported({ txHash: hash.toUpperCase().replace('0X', '0x') }),
      { kind: 'wait', txHash: hash },
    ],
    ['a hash with 0X', reported({ txHash: hash.toUpperCase() }), { kind: 'wait', txHash: hash }],
    [
      'confirmed',
      reported({
        status: 'confirmed',
        txHash: hash,
        fee: '5',
        feePaidBy: order.fromAddress.toLowerCase(),
        blockTime: '2026-01-31T09:30:00Z',
      }),
      { kind: 'confirm', txHash: hash, fee: 5n, feePaidBy: null, blockTime: new Date('2026-01-31T09:30:00Z') },
    ],
    [
      'confirmed, the fee paid by somebody else',
      reported({ status: 'confirmed', txHash: hash, fee: '5', feePaidBy: order.toAddress }),
      { kind: 'confirm', txHash: hash, fee: 5n, feePaidBy: order.toAddress, blockTime: null },
    ],
    [
      'failed',
      reported({ status: 'failed', failureReason: 'REVERTED' }),
      { kind: 'fail', txHash: null, fee: null, feePaidBy: null, reason: 'REVERTED' },
    ],
    [
      'failed for no reason',
      reported({ status: 'failed' }),
      { kind: 'fail', txHash: null, fee: null, feePaidBy: null, reason: 'The wallet service reports a failure' },
    ],
    [
      'an echo without case',
      reported({
        toAddress: order.toAddress.toLowerCase(),
        contractAddress: order.contractAddress?.toUpperCase().replace('0X', '0x') ?? null,
      }),
      { kind: 'wait', txHash: null },
    ],
  ])('leads to a verdict: %s', (_what, status, verdict) => {
    expect(evaluateStatus(order, unknown, status)).toEqual({ txIndex: null, ...verdict })
  })

  it('keeps the hash that was named before', () => {
    expect(evaluateStatus(order, known, reported())).toEqual({ kind: 'wait', txHash: hash, txIndex: 2 })
    expect(evaluateStatus(order, known, reported({ status: 'confirmed' }))).toMatchObject({
      kind: 'confirm',
      txHash: hash,
      txIndex: 2,
    })
  })

  it.each([
    ['sets the output of the transaction that it names', { txHash: hash, index: 1 }, 1],
    ['sets the output of the known transaction', { index: 1 }, 1],
    ['keeps the output when it names the known transaction alone', { txHash: hash }, 2],
    ['removes the output when it names another transaction alone', { txHash: `0x${'cd'.repeat(32)}` }, null],
  ])('%s', (_what, changes, txIndex) => {
    expect(evaluateStatus(order, known, reported(changes))).toMatchObject({ txIndex })
    expect(evaluateStatus(order, unknown, reported({ index: 1 }))).toMatchObject({ txHash: null, txIndex: null })
  })

  it.each([
    ['amount', { amount: '1000001' }],
    ['recipient', { toAddress: order.fromAddress }],
    ['source', { fromAddress: order.toAddress }],
    ['network', { network: 'polygon' }],
    ['token', { contractAddress: order.toAddress }],
    ['token', { contractAddress: null }],
  ])('T25 with another %s than ordered halts, whatever the status', (what, lie) => {
    for (const status of ['queued', 'broadcast', 'confirmed', 'failed'] as const) {
      const verdict = evaluateStatus(order, unknown, reported({ status, txHash: hash, ...lie }))
      expect(verdict).toEqual({ kind: 'halt', reason: `The wallet service reports another ${what} than ordered` })
    }
  })

  it('T25 with a token where the coin was ordered halts', () => {
    const coinOrder = { ...order, contractAddress: null }
    expect(evaluateStatus(coinOrder, unknown, reported({ contractAddress: order.contractAddress })).kind).toBe('halt')
    expect(evaluateStatus(coinOrder, unknown, reported({ contractAddress: null })).kind).toBe('wait')
  })

  it('T25 confirmed without a hash halts', () => {
    expect(evaluateStatus(order, unknown, reported({ status: 'confirmed' })).kind).toBe('halt')
  })

  it.each(['queued', 'broadcast', 'confirmed', 'failed'] as const)(
    'T75 with another hash is followed: %s',
    (status) => {
      const other = `0x${'cd'.repeat(32)}`
      expect(evaluateStatus(order, known, reported({ status, txHash: other }))).toMatchObject({ txHash: other })
    },
  )

  it.each([
    ['amount', { amount: '1000001' }],
    ['recipient', { toAddress: order.fromAddress }],
    ['source', { fromAddress: order.toAddress }],
    ['token', { contractAddress: null }],
  ])('T75 with another hash and another %s halts', (_what, lie) => {
    const replaced = reported({ status: 'broadcast', txHash: `0x${'cd'.repeat(32)}`, ...lie })
    expect(evaluateStatus(order, known, replaced).kind).toBe('halt')
  })
})
