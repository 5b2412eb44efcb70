import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ProtectedWallet, type Refused, startProtectedWallet } from '../testing/protected-wallet.ts'
import { authority, authorize, follow, team } from '../testing/signing.ts'
import { deployTestToken, readTestToken } from '../testing/test-token.ts'

const { anna, dora, emil } = team
const coin = authority.rules[0]!
let bench: ProtectedWallet
/** A token that has 6 decimals. */
let token: `0x${string}`
const ruleOf = (decimals: number) => ({ ...authority.rules[1]!, contractAddress: token, decimals })

beforeAll(async () => {
  bench = await startProtectedWallet(['versions', 'coin', 'token', 'right'])
  token = await deployTestToken(bench.faucet)
})
afterAll(() => bench?.stop())

test('T80 T81 a version with other decimals than the token has on the chain is refused', async () => {
  const { pinned, token: secret } = await bench.protect('versions', { rules: [coin] })
  const put = (decimals: number) =>
    bench.send<Refused>(secret, '/authority', follow(pinned, { rules: [coin, ruleOf(decimals)] }, [dora, emil]))
  expect(await put(18)).toMatchObject({
    status: 403,
    body: { details: `DECIMALS_DIFFER: ${token} on ethereum has 6 decimals, not 18` },
  })
  expect((await put(6)).status).toBe(200)
})

test('T80 no order is signed under decimals that differ from the chain, and an order with the right decimals is mined', async () => {
  const order = async (name: string, rules: (typeof coin)[], contractAddress: `0x${string}` | null) => {
    const { make, pinned, token: secret, fromAddress } = await bench.protect(name, { rules })
    const transfer = { abi: readTestToken().abi, functionName: 'transfer', args: [fromAddress, 1_000n] } as const
    if (contractAddress !== null)
      await bench.faucet.writeContract({ ...transfer, address: contractAddress, chain: null })
    const signed = make(`of-${name}`, { contractAddress })
    expect((await bench.hand(secret, signed, authorize(signed, { by: anna, under: pinned }))).status).toBe(202)
    const { status, txHash, failureReason } = await bench.settled(secret, signed.transferId)
    return { status, isSigned: txHash !== null, failureReason, nonce: await bench.nonceOf(fromAddress) }
  }
  const refused = (reason: string) => {
    const failureReason = `AUTHORIZATION_REFUSED: DECIMALS_DIFFER: ${reason}`
    return { status: 'failed', isSigned: false, failureReason, nonce: 0 }
  }
  expect(await order('coin', [{ ...coin, decimals: 6 }], null)).toEqual(
    refused('the coin on ethereum has 18 decimals, not 6'),
  )
  expect(await order('token', [coin, ruleOf(9)], token)).toEqual(refused(`${token} on ethereum has 6 decimals, not 9`))
  expect(await order('right', [coin, ruleOf(6)], token)).toMatchObject({ status: 'confirmed', nonce: 1 })
})
