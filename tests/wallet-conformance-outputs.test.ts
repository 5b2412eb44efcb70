import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { categories } from '../conformance/src/categories.ts'
import { type Report, runConformance } from '../conformance/src/run-checks.ts'
import { bitcoin, litecoin } from '../wallet/src/chains/bitcoin/parameters.ts'
import { type RunningWallet, startWallet } from '../wallet/src/start-wallet.ts'
import { createTestDatabase, type TestDatabase } from '../wallet/src/testing/database.ts'
import { type LitecoinNode, litecoinProgram, startLitecoinNode } from '../wallet/src/testing/litecoin-node.ts'
import { openUtxoFaucet } from '../wallet/src/testing/utxo-faucet.ts'
import { utxoConfigOf } from '../wallet/src/testing/utxo-wallet.ts'
import { call, otherVaultToken, testConfig, vaultToken } from '../wallet/src/testing/wallet-client.ts'
import { webhookSecret } from '../wallet/src/testing/webhook-receiver.ts'
import { faultyForms, faultyOutputs, faultyReports, namedFaults } from './wallet-conformance/faulty-outputs.ts'
import { bodyOf } from './wallet-conformance/mistakes.ts'
import { type Fault, type Faults, startRelay } from './wallet-conformance/stand.ts'

const account = 9000
const isComplete = process.env.CONFORMANCE === 'all'

// The tests of a node are counted as skipped where its program is not installed (Debian: litecoind).
describe.skipIf(litecoinProgram === null).each([bitcoin, litecoin])('the reference wallet on $type', (parameters) => {
  const { type, coinType } = parameters
  const purse = `m/44/${coinType}/${account}/0`
  let node: LitecoinNode
  let database: TestDatabase
  let wallet: RunningWallet
  let toKit: Awaited<ReturnType<typeof startRelay>>
  let toWallet: Awaited<ReturnType<typeof startRelay>>
  let faucet: Awaited<ReturnType<typeof openUtxoFaucet>>
  let isOver = false
  let isMining = true
  let mining: Promise<void>

  beforeAll(async () => {
    ;[node, database, toKit] = await Promise.all([startLitecoinNode(type), createTestDatabase(), startRelay()])
    faucet = await openUtxoFaucet(node, parameters)
    const chains = { [type]: await utxoConfigOf(type, node, { confirmations: 1 }) }
    const webhookUrl = `${toKit.url}/webhooks/wallet`
    wallet = await startWallet(testConfig({ databaseUrl: database.url, rpcUrl: node.url, chains, webhookUrl }))
    toWallet = await startRelay(wallet.url)
    const body = { network: type, coinType, derivationPath: purse }
    const { address } = (await call<{ address: string }>(wallet.url, '/addresses', { body })).body
    await faucet.pay(address, 100_000_000n)
    mining = mine()
  }, 60_000)

  afterAll(async () => {
    isOver = true
    await mining
    await wallet?.stop()
    await Promise.all([toKit?.stop(), toWallet?.stop()])
    await node?.stop()
    await database?.drop()
  })

  async function mine(): Promise<void> {
    while (!isOver) {
      if (isMining) await faucet.mine(1)
      await sleep(300)
    }
  }

  /** Stops mining between the orders of a check whose transactions must wait and the request for their replacement. */
  function waiting(fault: Fault | undefined): Fault {
    return async (request, forward) => {
      const { method, path, headers } = request
      const isWaiting = /\(outputs\.(later-first|not-replaceable|no-change)\)/.test(String(headers['user-agent']))
      const isPlaced = method === 'POST' && path === '/transfers' && bodyOf(request).derivationPath !== purse
      if (isWaiting && isPlaced) isMining = false
      try {
        return await (fault === undefined ? forward() : fault(request, forward))
      } finally {
        if (isWaiting && path.endsWith('/replacement')) isMining = true
      }
    }
  }

  async function run(only: string[], { spend = true, url = wallet.url, faults = {} as Faults } = {}): Promise<Report> {
    isMining = true
    toWallet.setFault(waiting(faults.wallet))
    toKit.setFault(faults.webhook)
    const options = {
      ...{ url, network: type, coinType, account, type, spend },
      ...{ secret: vaultToken, otherSecret: otherVaultToken, protectedSecret: null, authorityKeys: [], token: null },
      ...{ webhooks: { host: '127.0.0.1', port: 0, secret: webhookSecret }, waitSeconds: 60 },
      ...{ restart: null, backup: null, manyOrders: null },
    }
    return await runConformance(options, only, {
      note: () => undefined,
      onResult: () => undefined,
      onListening: (listening) => toKit.setTarget(new URL(listening).origin),
    })
  }

  const withStatus = ({ results }: Report, status: string) => results.filter((result) => result.status === status)
  const idsOf = (report: Report, status: string) => withStatus(report, status).map(({ id }) => id)

  // The checks of webhooks are the same on both networks, and take a minute.
  const names = categories
    .map(({ name }) => name)
    .filter((name) => name !== 'outputs' && (type === 'litecoin' || isComplete || name !== 'webhooks'))

  it('passes every check of the kit that is not about another family, also with payments', async () => {
    const report = await run(names)
    expect(withStatus(report, 'failed')).toEqual([])
    expect(report.passed).toBeGreaterThanOrEqual(type === 'litecoin' ? 75 : 55)
  }, 200_000)

  it('passes every check of its family', async () => {
    const report = await run(['outputs'], { url: toWallet.url })
    expect(withStatus(report, 'failed')).toEqual([])
    expect(idsOf(report, 'skipped')).toEqual(type === 'litecoin' ? [] : ['outputs.not-replaceable'])
  }, 100_000)

  // The mistakes are the same on both networks.
  const isShown = type === 'litecoin' || isComplete
  const inSuite = (faults: typeof faultyOutputs) =>
    faults.filter(([check], at) => isComplete || (isShown && (namedFaults.includes(check) || at % 3 === 2)))
  const applies = ([check]: (typeof faultyOutputs)[number]) =>
    type === 'litecoin' || check !== 'outputs.not-replaceable'

  it.each(isShown ? faultyForms : [])('with one mistake %s fails when it %s', async (check, _mistake, fault) => {
    const report = await run([check], { url: toWallet.url, spend: false, faults: { wallet: fault } })
    expect(idsOf(report, 'failed')).toEqual([check])
  })

  it.each(inSuite(faultyOutputs).filter(applies))('%s fails when it %s', async (check, _mistake, fault) => {
    const report = await run([check], { url: toWallet.url, faults: { wallet: fault } })
    expect(idsOf(report, 'failed')).toEqual([check])
  })

  it.each(inSuite(faultyReports))('%s fails when it %s', async (check, _mistake, fault) => {
    const report = await run([check], { url: toWallet.url, faults: { webhook: fault } })
    expect(idsOf(report, 'failed')).toEqual([check])
  })
})
