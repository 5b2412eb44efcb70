import { expect, test } from 'vitest'
import type { Chain } from '../chains/open-chain.ts'
import { authority, listed, order, token, unlisted } from '../testing/signing.ts'
import { describeOrder } from './describe-order.ts'

/** A node on which every token says this of itself. */
function nodeOf(network: string, token: { symbol: unknown; decimals: unknown } | Error) {
  const readContract = async ({ functionName }: { functionName: 'symbol' | 'decimals' }) => {
    if (token instanceof Error) throw token
    return token[functionName]
  }
  return { network, client: { readContract } } as unknown as Chain
}

const present = { authority, version: 3, hash: 'a'.repeat(64) }

test('an order is described by its rule, the floors that it must meet, and the address list', async () => {
  const [rule] = authority.rules
  expect(await describeOrder({ ...order, amount: '1000', toAddress: unlisted }, present, undefined)).toMatchObject({
    version: 3,
    authority: 'a'.repeat(64),
    isListed: false,
    rule: { initiators: 'initiators', perDay: '10000', floors: [rule!.floors[1]] },
    token: { symbol: null, decimals: 18 },
  })
  const toListed = await describeOrder({ ...order, amount: '1001', toAddress: listed }, present, undefined)
  expect(toListed).toMatchObject({ isListed: true, rule: { floors: [rule!.floors[0]] } })
  const elsewhere = await describeOrder({ ...order, network: 'polygon', toAddress: listed }, present, undefined)
  expect(elsewhere).toMatchObject({ isListed: false, rule: null, token: null })
})

test('a token is called what its contract says, if that is a name and a number that can be shown', async () => {
  const asked = async (network: string, said: Parameters<typeof nodeOf>[1], contractAddress = token) => {
    const rules = authority.rules.map((rule) => ({ ...rule, network }))
    const { token } = await describeOrder(
      { ...order, network, contractAddress },
      { ...present, authority: { ...authority, rules } },
      nodeOf(network, said),
    )
    return token
  }
  expect(await asked('no-node', new Error('silent'))).toBe(null)
  expect(await asked('odd-name', { symbol: 'U\u202eSD', decimals: 6 })).toBe(null)
  expect(await asked('odd-number', { symbol: 'USDT', decimals: 255 })).toBe(null)
  expect(await asked('right', { symbol: 'USDT', decimals: 6 })).toEqual({ symbol: 'USDT', decimals: 6 })
  // A contract that no rule names is not asked what it calls itself.
  expect(await asked('right', { symbol: 'USDT', decimals: 6 }, unlisted)).toBe(null)
})
