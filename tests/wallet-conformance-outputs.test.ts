import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { categories } from '../conformance/src/categories.ts'
import { runConformance } from '../conformance/src/run-checks.ts'
import { bitcoin, litecoin } from '../wallet/src/chains/bitcoin/parameters.ts'
import { type RunningWallet, startWallet } from '../wallet/src/start-wallet.ts'
import { createTestDatabase, type TestDatabase } from '../wallet/src/testing/database.ts'
import { type LitecoinNode, litecoinProgram, startLitecoinNode } from '../wallet/src/testing/litecoin-node.ts'
import { openUtxoFaucet } from '../wallet/src/testing/utxo-faucet.ts'
import { utxoConfigOf } from '../wallet/src/testing/utxo-wallet.ts'
import { call, otherVaultToken, testConfig, vaultToken } from '../wallet/src/testing/wallet-client.ts'
import { webhookSecret } from '../wallet/src/testing/webhook-receiver.ts'

const account = 9000
const isComplete = process.env.CONFORMANCE === 'all'

// The tests of a node are counted as skipped where its program is not installed (Debian: litecoind).
describe.skipIf(litecoinProgram === null).each([bitcoin, litecoin])('the reference wallet on $type', (parameters) => {
  const { type, coinType } = parameters
  let node: LitecoinNode
  let database: TestDatabase
  let wallet: RunningWallet
  let port: number
  let faucet: Awaited<ReturnType<typeof openUtxoFaucet>>
  let isOver = false
  let mining: Promise<void>

  beforeAll(async () => {
    ;[node, database, port] = await Promise.all([startLitecoinNode(type), createTestDatabase(), freePort()])
    faucet = await openUtxoFaucet(node, parameters)
    const chains = { [type]: await utxoConfigOf(type, node, { confirmations: 1 }) }
    const webhookUrl = `http://127.0.0.1:${port}/webhooks/wallet`
    wallet = await startWallet(testConfig({ databaseUrl: database.url, rpcUrl: node.url, chains, webhookUrl }))
    const body = { network: type, coinType, derivationPath: `m/44/${coinType}/${account}/0` }
    const purse = await call<{ address: string }>(wallet.url, '/addresses', { body })
    await faucet.pay(purse.body.address, 100_000_000n)
    mining = mine()
  }, 60_000)

  afterAll(async () => {
    isOver = true
    await mining
    await wallet?.stop()
    await node?.stop()
    await database?.drop()
  })

  async function mine(): Promise<void> {
    while (!isOver) {
      await faucet.mine(1)
      await sleep(300)
    }
  }

  // The webhooks are those of either network, and take a minute.
  const names = categories
    .map(({ name }) => name)
    .filter((name) => type === 'litecoin' || isComplete || name !== 'webhooks')

  it('passes every check of the kit that is not about another family, moving funds', async () => {
    const options = {
      url: wallet.url,
      network: type,
      coinType,
      account,
      isEvm: false,
      secret: vaultToken,
      otherSecret: otherVaultToken,
      protectedSecret: null,
      authorityKeys: [],
      token: null,
      spend: true,
      webhooks: { host: '127.0.0.1', port, secret: webhookSecret },
      waitSeconds: 60,
      restart: null,
      backup: null,
      manyOrders: null,
    }
    const { results, passed } = await runConformance(options, names, {
      note: () => undefined,
      onResult: () => undefined,
      onListening: () => undefined,
    })
    expect(results.filter(({ status }) => status === 'failed')).toEqual([])
    expect(passed).toBeGreaterThanOrEqual(type === 'litecoin' ? 75 : 55)
  }, 200_000)
})

async function freePort(): Promise<number> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
