import { encodeAbiParameters, encodeEventTopics, erc20Abi, type TransactionReceipt } from 'viem'
import { describe, expect, test } from 'vitest'
import { findMovements } from './find-movements.ts'

const sender = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const recipient = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const contract = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
const transaction = { from: sender, to: recipient, value: 5n } as const

function transferLog(amount: bigint): TransactionReceipt['logs'][number] {
  const topics = encodeEventTopics({ abi: erc20Abi, eventName: 'Transfer', args: { from: sender, to: recipient } })
  const data = encodeAbiParameters([{ type: 'uint256' }], [amount])
  return { address: contract, topics, data } as unknown as TransactionReceipt['logs'][number]
}

describe('findMovements', () => {
  test('reads the coin and every token of a transaction that succeeded', () => {
    const logs = [transferLog(1n), transferLog(0n), transferLog(3n)]
    expect(findMovements(transaction, { status: 'success', logs })).toEqual([
      { contract: null, index: 0, fromAddress: sender, toAddress: recipient, amount: 5n },
      { contract, index: 0, fromAddress: sender, toAddress: recipient, amount: 1n },
      { contract, index: 2, fromAddress: sender, toAddress: recipient, amount: 3n },
    ])
  })

  test('T16 reads nothing of a reverted transaction, whatever it would have moved', () => {
    expect(findMovements(transaction, { status: 'reverted', logs: [] })).toEqual([])
    expect(findMovements(transaction, { status: 'reverted', logs: [transferLog(1n)] })).toEqual([])
  })

  test('T21 reads no zero amounts, and nothing of the creation of a contract', () => {
    expect(findMovements({ ...transaction, value: 0n }, { status: 'success', logs: [transferLog(0n)] })).toEqual([])
    expect(findMovements({ ...transaction, to: null }, { status: 'success', logs: [] })).toEqual([])
  })
})
