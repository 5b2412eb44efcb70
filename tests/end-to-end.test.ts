import { encodeFunctionData, erc20Abi, type Hex } from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readConfig } from '../server/src/config/config.ts'
import { verifyTransfers } from '../server/src/modules/money/transfers/compare-order.ts'
import { verifyLedger } from '../server/src/modules/money/verifications/verify-ledger.ts'
import { verifyAudit } from '../server/src/modules/record/audit/verify.ts'
import { type RunningServer, startServer } from '../server/src/start.ts'
import { createTestDatabase } from '../server/src/testing/database.ts'
import { type Anvil, startAnvil } from '../wallet/src/anvil.ts'
import { type RunningWallet, startWallet } from '../wallet/src/start-wallet.ts'
import { controlChain } from '../wallet/src/testing/local-chain.ts'
import { anvilMnemonic, deployTestToken, type Faucet, openFaucet } from '../wallet/src/testing/test-token.ts'
import { type Call, signInTo, until } from './setup/running-service.ts'

const webhookSecret = 'an end-to-end webhook secret'
const walletToken = 'an-end-to-end-wallet-service-token'
const supplier = mnemonicToAccount(anvilMnemonic, { addressIndex: 7 }).address

let anvil: Anvil
let server: RunningServer
let wallet: RunningWallet
let faucet: Faucet
let token: `0x${string}`
const cleanUps: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  anvil = await startAnvil()
  cleanUps.push(() => anvil.stop())
  const database = await createTestDatabase()
  cleanUps.push(() => database.drop())
  faucet = openFaucet(anvil.rpcUrl)
  token = await deployTestToken(faucet)
  server = await startServer(
    readConfig({
      DEMO: 'true',
      PORT: '0',
      DATABASE_URL: database.url,
      STRONGROOM_ADMIN_EMAIL: 'operator@example.org',
      STRONGROOM_SECRET_KEY: 'an end-to-end key that is long enough',
      WALLET_WEBHOOK_SECRET: webhookSecret,
      GAS_CHECK: 'on',
      LOG_LEVEL: 'silent',
    }),
  )
  cleanUps.push(() => server.stop())
  wallet = await startWallet({
    databaseUrl: database.url,
    passphrase: 'an end-to-end passphrase',
    logLevel: 'silent',
    port: 0,
    host: '127.0.0.1',
    chains: { ethereum: { rpcUrl: anvil.rpcUrl, chainId: anvil.chainId, confirmations: 1, pollMilliseconds: 100 } },
    webhookUrl: `${server.url}/webhooks/wallet`,
    webhookSecret,
    clients: [{ name: 'end-to-end', token: walletToken }],
  })
  cleanUps.push(() => wallet.stop())
})
afterAll(async () => {
  for (const cleanUp of cleanUps.reverse()) await cleanUp()
})

it('carries money from a sign-in link over a deposit, two votes and the chain into the books', async () => {
  const operator = await signIn('operator@example.org')
  const vault = await operator('POST', '/vaults', 201, {
    vault: { code: 'treasury', name: 'Treasury', walletServiceUrl: wallet.url, walletServiceSecret: walletToken },
    routes: {
      network: { order: 0, name: 'Network', variants: [{ id: 60, code: 'ethereum', name: 'Ethereum' }] },
      desk: { order: 1, name: 'Desk', variants: [{ id: 1, code: 'ops', name: 'Operations' }] },
      index: { order: 2, name: 'Index', dynamic: true },
    },
  })
  await operator('POST', '/tokens', 201, {
    network: 'ethereum',
    code: 'ETH',
    symbol: 'Ξ',
    name: 'Ether',
    decimals: 18,
    contractAddress: null,
  })
  const usd = await operator('POST', '/tokens', 201, {
    network: 'ethereum',
    code: 'TUSD',
    symbol: '$',
    name: 'Test dollar',
    decimals: 6,
    contractAddress: token,
  })
  await operator('POST', '/vaults/treasury/lock', 200)

  // Users are invited, and become members when they sign in.
  const treasury = await operator('POST', '/vaults/treasury/policy-groups', 201, { code: 'treasury', name: 'Treasury' })
  const approvers = await operator('POST', '/vaults/treasury/policy-groups', 201, {
    code: 'approvers',
    name: 'Approvers',
  })
  const invite = (email: string, groupId: string) =>
    operator('POST', '/invitations', 201, { email, groupIds: [groupId] })
  await invite('treasurer@example.org', treasury.id)
  await invite('first.approver@example.org', approvers.id)
  await invite('second.approver@example.org', approvers.id)
  const treasurer = await signIn('treasurer@example.org')
  const firstApprover = await signIn('first.approver@example.org')
  const secondApprover = await signIn('second.approver@example.org')

  const policy = (body: object) => operator('POST', `/policy-groups/${treasury.id}/policies`, 201, body)
  await policy({ code: 'addresses', name: 'Addresses', actionType: 'create_address', effect: 'allow' })
  await policy({
    code: 'two-votes',
    name: 'Every transfer needs two votes',
    actionType: 'transfer',
    effect: 'requireApproval',
    approvalThreshold: 2,
    approvers: [{ kind: 'group', groupId: approvers.id }],
  })

  const address = await treasurer('POST', '/vaults/treasury/addresses', 201, {
    network: 'ethereum',
    segments: { desk: 'ops' },
    token: 'TUSD',
    label: 'Operations',
  })
  await fund(address.address as Hex)
  await until(async () => {
    const { totals } = await treasurer('GET', '/vaults/treasury/balances?summary=true', 200)
    const available = Object.fromEntries(totals.map((total) => [total.token.code, total.availableDecimal]))
    return available.TUSD === '1000' && available.ETH === '1'
  })

  const transfer = await treasurer('POST', '/vaults/treasury/transfers', 201, {
    fromAddressId: address.id,
    toAddress: supplier,
    amount: '250.75',
    metadata: { paymentPurpose: 'Invoice 4711' },
  })
  expect(transfer.status).toBe('awaiting_approval')
  await firstApprover('POST', `/vaults/treasury/transfers/${transfer.id}/approve`, 200, { comment: 'Checked' })
  const released = await secondApprover('POST', `/vaults/treasury/transfers/${transfer.id}/approve`, 200, {})
  expect(released.status).toBe('pending')
  await until(
    async () => (await treasurer('GET', `/vaults/treasury/transfers/${transfer.id}`, 200)).status === 'confirmed',
  )

  // The chain agrees with the ledger.
  expect(await tokenBalance(supplier)).toBe(250_750_000n)
  const confirmed = await treasurer('GET', `/vaults/treasury/transfers/${transfer.id}`, 200)
  const receipt = await faucet.getTransactionReceipt({ hash: confirmed.txHash as Hex })
  expect(receipt.status).toBe('success')
  expect(BigInt(confirmed.fee!)).toBe(receipt.gasUsed * receipt.effectiveGasPrice)
  const reconciliation = await operator('GET', '/vaults/treasury/ledger/reconciliation', 200)
  expect(reconciliation.differences).toEqual([])
  expect(reconciliation.tokens.map((token) => [token.token.code, token.difference, token.sumOfPostings])).toEqual([
    ['ETH', '0', '0'],
    ['TUSD', '0', '0'],
  ])
  const books = await treasurer('GET', `/vaults/treasury/ledger/entries?addressId=${address.id}&tokenId=${usd.id}`, 200)
  expect(books.items[0]!.balance).toBe((await tokenBalance(address.address as Hex)).toString())

  const history = await treasurer('GET', '/vaults/treasury/history', 200)
  expect(
    history.items.map((item: { direction: string; asset: string; status: string }) => [
      item.direction,
      item.asset,
      item.status,
    ]),
  ).toEqual([
    ['out', 'TUSD', 'confirmed'],
    ['in', 'TUSD', 'confirmed'],
    ['in', 'ETH', 'confirmed'],
  ])
  expect((await verifyLedger(server.deps.db)).differences).toEqual([])
  const chains = await verifyAudit(server.deps.db)
  expect(chains.map((chain) => chain.fault)).toEqual([null, null])
  expect(await verifyTransfers(server.deps.db)).toEqual({ checked: 1, differences: [] })
  expect(vault.code).toBe('treasury')
})

it('reads the changes of the wallet service, which it asks about single transfers no more', async () => {
  const [following] = await server.deps.db.selectFrom('followings').select(['cursor', 'since', 'strangers']).execute()
  expect(following).toEqual({ cursor: expect.any(String), since: expect.any(Date), strangers: '0' })
})

it('T75 a transfer that is stuck on the chain is sped up by its initiator, is paid once, and the books agree', async () => {
  const treasurer = await signIn('treasurer@example.org')
  const operator = await signIn('operator@example.org')
  const { items } = await treasurer('GET', '/vaults/treasury/addresses', 200)
  const groups = await operator('GET', '/vaults/treasury/policy-groups?limit=100', 200)
  const group = groups.items.find((group) => group.code === 'treasury')
  const { items: policies } = await operator('GET', '/vaults/treasury/policies?limit=100', 200)
  await operator('DELETE', `/policies/${policies.find((policy) => policy.code === 'two-votes')!.id}`, 204)
  await operator('POST', `/policy-groups/${group!.id}/policies`, 201, {
    code: 'cheap',
    name: 'Transfers with a limited fee',
    actionType: 'transfer',
    effect: 'allow',
    rules: [{ conditionType: 'require', selectors: [{ selectorType: 'maxFee', value: { op: 'lte', value: '0.05' } }] }],
  })
  const chain = controlChain(anvil.rpcUrl)
  await chain.setAutomine(false)
  const before = await tokenBalance(supplier)
  const path = '/vaults/treasury/transfers'
  const order = { fromAddressId: items[0]!.id, toAddress: supplier, amount: '1' }
  await treasurer('POST', path, 403, order)
  const { id } = await treasurer('POST', path, 201, { ...order, maxFee: '50000000000000000', feeLevel: 'low' })
  const read = () => treasurer('GET', `${path}/${id}`, 200)
  await until(async () => (await read()).txHash !== null)
  // The network becomes forty times as expensive.
  await chain.mine(40_000_000_000n)
  const { txHash } = await read()

  const quote = await treasurer('POST', `${path}/${id}/replacement-preview`, 200)
  expect(quote).toMatchObject({ txHash, speedUp: { refusal: null, maxFee: { asset: 'ETH' } } })
  await treasurer('POST', `${path}/${id}/speed-up`, 409, { txHash, maxFee: '1' })
  const sped = await treasurer('POST', `${path}/${id}/speed-up`, 200, { txHash })
  expect(sped.txHashes).toEqual([txHash, sped.txHash])
  await until(async () => {
    await chain.mine(40_000_000_000n)
    return (await read()).status === 'confirmed'
  })
  const confirmed = await read()
  expect(confirmed).toMatchObject({ txHash: sped.txHash, txHashes: [txHash, sped.txHash] })
  expect(BigInt(confirmed.fee!)).toBeLessThanOrEqual(50_000_000_000_000_000n)
  expect(await tokenBalance(supplier)).toBe(before + 1_000_000n)
  const reconciliation = await operator('GET', '/vaults/treasury/ledger/reconciliation', 200)
  expect(reconciliation.differences).toEqual([])
  expect((await verifyLedger(server.deps.db)).differences).toEqual([])
  expect(await verifyTransfers(server.deps.db)).toEqual({ checked: 2, differences: [] })
})

it('T75 above the limit of its order it is sped up after a vote, without anybody asking again', async () => {
  const treasurer = await signIn('treasurer@example.org')
  const operator = await signIn('operator@example.org')
  const approver = await signIn('first.approver@example.org')
  const { items: addresses } = await treasurer('GET', '/vaults/treasury/addresses', 200)
  const { items: groups } = await operator('GET', '/vaults/treasury/policy-groups?limit=100', 200)
  const idOf = (code: string) => groups.find((group) => group.code === code)!.id
  await operator('POST', `/policy-groups/${idOf('treasury')}/policies`, 201, {
    code: 'dear',
    name: 'Dear transfers',
    actionType: 'transfer',
    effect: 'requireApproval',
    approvalThreshold: 1,
    approvers: [{ kind: 'group', groupId: idOf('approvers') }],
    rules: [{ conditionType: 'require', selectors: [{ selectorType: 'maxFee', value: { op: 'gt', value: '0.001' } }] }],
  })
  const chain = controlChain(anvil.rpcUrl)
  await chain.setAutomine(false)
  await chain.mine(1_000_000_000n)
  const before = await tokenBalance(supplier)
  const path = '/vaults/treasury/transfers'
  const order = { fromAddressId: addresses[0]!.id, toAddress: supplier, amount: '1', feeLevel: 'low' }
  const { id } = await treasurer('POST', path, 201, { ...order, maxFee: '1000000000000000' })
  const read = () => treasurer('GET', `${path}/${id}`, 200)
  await until(async () => (await read()).txHash !== null)
  await chain.mine(40_000_000_000n)
  const { txHash } = await read()

  const { speedUp } = await treasurer('POST', `${path}/${id}/replacement-preview`, 200)
  expect(speedUp).toMatchObject({ refusal: null, needsApproval: true })
  await treasurer('POST', `${path}/${id}/speed-up`, 409, { txHash })
  const maxFee = speedUp.maxFee!.amount
  const { request } = await treasurer('POST', `${path}/${id}/speed-up`, 202, { txHash, maxFee })
  expect(request).toMatchObject({ action: 'transfer_replace', decisionPolicyCode: 'dear' })
  await approver('POST', `/vaults/treasury/approval-requests/${request.id}/approve`, 200, {})
  await until(async () => {
    await chain.mine(40_000_000_000n)
    return (await read()).status === 'confirmed'
  })
  const confirmed = await read()
  expect(confirmed.txHashes).toEqual([txHash, confirmed.txHash])
  expect(BigInt(confirmed.fee!)).toBeGreaterThan(1_000_000_000_000_000n)
  expect(BigInt(confirmed.fee!)).toBeLessThanOrEqual(BigInt(maxFee))
  expect(await tokenBalance(supplier)).toBe(before + 1_000_000n)
  expect((await verifyLedger(server.deps.db)).differences).toEqual([])
  expect(await verifyTransfers(server.deps.db)).toEqual({ checked: 3, differences: [] })
})

it('T16 T17 a deposit that the chain takes back leaves the books, exposes what was spent of it, and can come back', async () => {
  const treasurer = await signIn('treasurer@example.org')
  const operator = await signIn('operator@example.org')
  const approver = await signIn('first.approver@example.org')
  const chain = controlChain(anvil.rpcUrl)
  await chain.setAutomine(true)
  const { items: groups } = await operator('GET', '/vaults/treasury/policy-groups?limit=100', 200)
  const groupOf = (code: string) => groups.find((group) => group.code === code)!.id
  await operator('POST', `/policy-groups/${groupOf('treasury')}/policies`, 201, {
    code: 'one-vote',
    name: 'Every transfer needs a vote',
    actionType: 'transfer',
    effect: 'requireApproval',
    approvalThreshold: 1,
    approvers: [{ kind: 'group', groupId: groupOf('approvers') }],
  })
  const segments = { desk: 'ops' }
  const address = await treasurer('POST', '/vaults/treasury/addresses', 201, {
    network: 'ethereum',
    segments,
    token: 'TUSD',
  })
  const before = await chain.rpc('evm_snapshot')
  const raw = await signPayment(address.address as Hex, 10_000_000n)
  const hash = await chain.send(raw)
  const standing = async () => {
    const query = `summary=true&addressId=${address.id}&token=TUSD`
    const [total] = (await treasurer('GET', `/vaults/treasury/balances?${query}`, 200)).totals
    return total === undefined ? '' : `${total.availableDecimal} ${total.reservedDecimal} ${total.exposureDecimal}`
  }
  await until(async () => (await standing()) === '10 0 0')

  // The coin of the network is not there yet, and the reference wallet says what the transfer costs.
  const order = { fromAddressId: address.id, toAddress: supplier, amount: '6', maxFee: '50000000000000000' }
  const refused = await treasurer('POST', '/vaults/treasury/transfers', 409, order)
  expect(refused).toMatchObject({ reason: 'insufficient_gas', details: expect.stringMatching(/lacks 0\.\d+ ETH/) })
  const body = {
    addressId: address.id,
    tokenId: await idOfCoin(operator),
    amount: '1',
    reason: 'The operator lends it',
  }
  await operator('POST', '/vaults/treasury/adjustments', 201, body)
  const { id, status } = await treasurer('POST', '/vaults/treasury/transfers', 201, order)
  expect(status).toBe('awaiting_approval')
  expect(await standing()).toBe('4 6 0')

  await chain.rpc('evm_revert', [before])
  await chain.rpc('anvil_mine', ['0x3'])
  await until(async () => (await standing()) === '0 6 6')
  const { items: deposits } = await treasurer('GET', `/vaults/treasury/deposits?addressId=${address.id}`, 200)
  expect(deposits).toMatchObject([{ txHash: hash, orphaned: { takenDecimal: '4', exposedDecimal: '6' } }])
  const stopped = await approver('POST', `/vaults/treasury/transfers/${id}/approve`, 409, {})
  expect(stopped.reason).toBe('address_exposed')
  const differences = async () =>
    (await operator('GET', '/vaults/treasury/ledger/reconciliation', 200)).tokens.find(
      (token: { token: { code: string } }) => token.token.code === 'TUSD',
    )!.difference
  expect(await differences()).toBe('0')

  expect(await chain.send(raw)).toBe(hash)
  await until(async () => (await standing()) === '4 6 0')
  expect(await differences()).toBe('0')
  expect((await verifyLedger(server.deps.db)).differences).toEqual([])
  await operator('POST', `/vaults/treasury/transfers/${id}/cancel`, 200)
})

/** A signed payment of test dollars: sent again after a reorganisation, it is the same transaction. */
async function signPayment(to: `0x${string}`, amount: bigint) {
  return faucet.account.signTransaction({
    to: token,
    data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amount] }),
    nonce: await faucet.getTransactionCount({ address: faucet.account.address }),
    gas: 100_000n,
    maxFeePerGas: 200_000_000_000n,
    maxPriorityFeePerGas: 1_000_000_000n,
    chainId: anvil.chainId,
    type: 'eip1559',
  })
}

async function idOfCoin(operator: Call): Promise<string> {
  const { items } = await operator('GET', '/tokens?limit=100', 200)
  return items.find((token: { code: string }) => token.code === 'ETH')!.id
}

const signIn = (email: string): Promise<Call> => signInTo(server, email)

/** Sends 1 ETH and 1,000 test dollars on chain, in that order. */
async function fund(address: `0x${string}`): Promise<void> {
  const coin = await faucet.sendTransaction({ to: address, value: 10n ** 18n, chain: null })
  await faucet.waitForTransactionReceipt({ hash: coin })
  await until(async () => (await server.deps.db.selectFrom('deposits').select('id').execute()).length === 1)
  const dollars = await faucet.writeContract({
    address: token,
    abi: erc20Abi,
    functionName: 'transfer',
    args: [address, 1_000_000_000n],
    chain: null,
  })
  await faucet.waitForTransactionReceipt({ hash: dollars })
}

const tokenBalance = (address: `0x${string}`) =>
  faucet.readContract({ address: token, abi: erc20Abi, functionName: 'balanceOf', args: [address] })
