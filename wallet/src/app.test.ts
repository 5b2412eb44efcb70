import { createPublicKey, ECDH, verify } from 'node:crypto'
import { HDKey } from '@scure/bip32'
import pg from 'pg'
import { parseEther } from 'viem'
import { publicKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Anvil, startAnvil } from './anvil.ts'
import { type RunningWallet, startWallet } from './start-wallet.ts'
import { createTestDatabase, type TestDatabase } from './testing/database.ts'
import { startNodeProxy } from './testing/node-proxy.ts'
import { deployTestToken, type Faucet, openFaucet, readTestToken } from './testing/test-token.ts'
import {
  call,
  deriveTestAddress,
  orderTestTransfer,
  otherVaultToken,
  testConfig,
  vaultToken,
  waitFor,
} from './testing/wallet-client.ts'

const recipient = '0x000000000000000000000000000000000000dEaD'
const addressOrder = { network: 'ethereum', coinType: 60, derivationPath: 'm/44/60/0/0' }

let anvil: Anvil
let database: TestDatabase
let wallet: RunningWallet
let faucet: Faucet

beforeAll(async () => {
  ;[anvil, database] = await Promise.all([startAnvil(), createTestDatabase()])
  faucet = openFaucet(anvil.rpcUrl)
  wallet = await startWallet(testConfig({ databaseUrl: database.url, rpcUrl: anvil.rpcUrl }))
})

afterAll(async () => {
  await wallet?.stop()
  await anvil?.stop()
  await database?.drop()
})

describe('the keys of accounts', () => {
  const challenge = 'A'.repeat(43)
  type Shown = { xpub: string; key: string; signature: string; details: { field: string }[] }
  const ask = (query: Record<string, string>, token = vaultToken) =>
    call<Shown>(wallet.url, `/xpub?${new URLSearchParams(query)}`, { token })
  const question = { network: 'ethereum', derivationPath: 'm/44/60/0', challenge }

  test('T61 an account shows its public key, signed by the key of the client, also after a restart', async () => {
    const { status, body } = await ask(question)
    expect(status).toBe(200)
    const signer = createPublicKey({ key: Buffer.from(body.key, 'base64url'), format: 'der', type: 'spki' })
    const text = `strongroom account key 1\nethereum\nm/44/60/0\n${body.xpub}\n${challenge}`
    expect(verify(null, Buffer.from(text), signer, Buffer.from(body.signature, 'base64url'))).toBe(true)
    await wallet.stop()
    wallet = await startWallet(testConfig({ databaseUrl: database.url, rpcUrl: anvil.rpcUrl }))
    expect((await ask(question)).body).toEqual(body)
    const account = HDKey.fromExtendedKey(body.xpub)
    expect([account.depth, account.index, account.privateKey]).toEqual([3, 2 ** 31, null])
    const { publicKey } = account.deriveChild(7)
    expect(publicKeyToAddress(`0x${uncompressed(publicKey!)}`)).toBe(await deriveTestAddress(wallet.url, 'm/44/60/0/7'))
  })

  test('T61 two clients have different keys and signers, and accounts of one client the same signer', async () => {
    const mine = (await ask(question)).body
    const other = (await ask(question, otherVaultToken)).body
    const next = (await ask({ ...question, derivationPath: 'm/44/60/1' })).body
    expect(new Set([mine.xpub, other.xpub, next.xpub]).size).toBe(3)
    expect(other.key).not.toBe(mine.key)
    expect(next.key).toBe(mine.key)
  })

  test.each([
    [{ derivationPath: 'm/44/60/0/0' }, 'derivationPath'],
    [{ derivationPath: 'm/44/60' }, 'derivationPath'],
    [{ derivationPath: "m/44'/60'/0'" }, 'derivationPath'],
    [{ challenge: 'short' }, 'challenge'],
    [{ network: 'unknown' }, 'network'],
    [{ extra: '1' }, 'extra'],
  ])('%j is refused with a 400', async (change, field) => {
    const { status, body } = await ask({ ...question, ...change })
    expect([status, body.details[0]!.field]).toEqual([400, field])
  })

  const uncompressed = (key: Uint8Array) =>
    (ECDH.convertKey(key, 'secp256k1', undefined, undefined, 'uncompressed') as Buffer).toString('hex')
})

describe('addresses', () => {
  test('the same path gives the same address, also after a restart, and another path gives another address', async () => {
    const first = await deriveTestAddress(wallet.url, 'm/44/60/0/0')
    const copies = await Promise.all(Array.from({ length: 5 }, () => deriveTestAddress(wallet.url, 'm/44/60/0/0')))
    expect(copies).toEqual(Array(5).fill(first))
    expect(await deriveTestAddress(wallet.url, 'm/44/60/0/1')).not.toBe(first)
    await wallet.stop()
    wallet = await startWallet(testConfig({ databaseUrl: database.url, rpcUrl: anvil.rpcUrl }))
    expect(await deriveTestAddress(wallet.url, 'm/44/60/0/0')).toBe(first)
  })

  test('two clients never share a key, whatever the path', async () => {
    const mine = await deriveTestAddress(wallet.url, 'm/44/60/3/0')
    expect(await deriveTestAddress(wallet.url, 'm/44/60/3/0', otherVaultToken)).not.toBe(mine)
  })

  test.each([
    [{ ...addressOrder, derivationPath: 'm/44/61/0/0' }, 'derivationPath'],
    [{ ...addressOrder, derivationPath: "m/44'/60'/0'/0" }, 'derivationPath'],
    [{ ...addressOrder, network: 'unknown' }, 'network'],
    [{ ...addressOrder, network: '__proto__' }, 'network'],
    [{ ...addressOrder, coinType: '60' }, 'coinType'],
    [{ ...addressOrder, extra: 1 }, 'extra'],
    [{ network: 'ethereum', coinType: 60 }, 'derivationPath'],
  ])('%j is refused with a 400 that names %s', async (body, field) => {
    const answer = await call(wallet.url, '/addresses', { body })
    expect(answer).toMatchObject({ status: 400, body: { error: 'Bad Request', code: 400, details: [{ field }] } })
  })
})

describe('balances', () => {
  test('the coin and a token are read from the chain', async () => {
    const address = await deriveTestAddress(wallet.url, 'm/44/60/4/0')
    const token = await deployTestToken(faucet)
    const { abi } = readTestToken()
    await faucet.writeContract({ address: token, abi, functionName: 'transfer', args: [address, 77n], chain: null })
    const hash = await faucet.sendTransaction({ to: address, value: parseEther('2'), chain: null })
    const { blockNumber } = await faucet.waitForTransactionReceipt({ hash })
    const coin = await call(wallet.url, `/balances?network=ethereum&address=${address}&contract=`)
    expect(coin).toMatchObject({
      status: 200,
      body: { balance: '2000000000000000000', blockNumber: Number(blockNumber) },
    })
    const tokens = await call(wallet.url, `/balances?network=ethereum&address=${address}&contract=${token}`)
    expect(tokens).toMatchObject({ status: 200, body: { balance: '77' } })
    const none = await call(wallet.url, `/balances?network=ethereum&address=${address}&contract=${recipient}`)
    expect(none).toMatchObject({ status: 409, body: { code: 409 } })
    const wrong = await call(wallet.url, `/balances?network=ethereum&address=${address}&contrakt=${token}`)
    expect(wrong).toMatchObject({ status: 400, body: { details: [{ field: 'contrakt' }] } })
  })

  test('a client may query its own addresses only', async () => {
    const address = await deriveTestAddress(wallet.url, 'm/44/60/4/0')
    const path = `/balances?network=ethereum&address=${address}` as const
    expect(await call(wallet.url, path, { token: otherVaultToken })).toMatchObject({ status: 404, body: { code: 404 } })
  })
})

describe('fees', () => {
  test('a fee is estimated, also for a transfer that the address cannot pay', async () => {
    const fromAddress = await deriveTestAddress(wallet.url, 'm/44/60/5/0')
    const token = await deployTestToken(faucet)
    const question = { network: 'ethereum', fromAddress, toAddress: recipient, contractAddress: null, amount: '1000' }
    const coin = await call<{ fee: string }>(wallet.url, '/fees', { body: question })
    expect(coin).toMatchObject({ status: 200, body: { asset: 'native', fee: expect.stringMatching(/^[1-9]\d+$/) } })
    const tokens = await call<{ fee: string }>(wallet.url, '/fees', { body: { ...question, contractAddress: token } })
    expect(tokens.status).toBe(200)
    expect(BigInt(tokens.body.fee)).toBeGreaterThan(BigInt(coin.body.fee))
  })
})

describe('transfers', () => {
  test('an unknown id and an id of another client are answered with a 404', async () => {
    const fromAddress = await deriveTestAddress(wallet.url, 'm/44/60/6/0')
    const order = { id: 'mine-1', derivationPath: 'm/44/60/6/0', fromAddress, toAddress: recipient, amount: '1' }
    expect((await orderTestTransfer(wallet.url, order)).status).toBe(202)
    expect((await call(wallet.url, '/transfers/mine-1')).status).toBe(200)
    expect(await call(wallet.url, '/transfers/mine-1', { token: otherVaultToken })).toMatchObject({ status: 404 })
    expect(await call(wallet.url, '/transfers/never-heard')).toMatchObject({
      status: 404,
      body: { error: 'Not Found', code: 404 },
    })
  })

  test('an id of 128 characters can be ordered and read; a longer id is refused with a 400 in both cases', async () => {
    const fromAddress = await deriveTestAddress(wallet.url, 'm/44/60/6/0')
    const order = { derivationPath: 'm/44/60/6/0', fromAddress, toAddress: recipient, amount: '1' }
    const id = 'x'.repeat(128)
    expect((await orderTestTransfer(wallet.url, { ...order, id })).status).toBe(202)
    expect(await call(wallet.url, `/transfers/${id}`)).toMatchObject({ status: 200, body: { id } })
    expect((await orderTestTransfer(wallet.url, { ...order, id: `${id}x` })).status).toBe(400)
    expect(await call(wallet.url, `/transfers/${id}x`)).toMatchObject({ status: 400, body: { code: 400 } })
  })

  test('T25 fromAddress must be the address of the path and of this client', async () => {
    const fromAddress = await deriveTestAddress(wallet.url, 'm/44/60/6/1')
    const order = { id: 'foreign-1', derivationPath: 'm/44/60/6/2', fromAddress, toAddress: recipient, amount: '1' }
    expect(await orderTestTransfer(wallet.url, order)).toMatchObject({
      status: 400,
      body: { details: [{ field: 'fromAddress' }] },
    })
    const body = { ...order, derivationPath: 'm/44/60/6/1', network: 'ethereum', coinType: 60, contractAddress: null }
    expect(await call(wallet.url, '/transfers', { body, token: otherVaultToken })).toMatchObject({ status: 400 })
    expect(await call(wallet.url, '/transfers/foreign-1')).toMatchObject({ status: 404 })
  })

  test.each([
    ['amount', '0'],
    ['amount', '-1'],
    ['amount', '1.5'],
    ['amount', '1e18'],
    ['amount', '0x1'],
    ['amount', 'NaN'],
    ['amount', (2n ** 256n).toString()],
    ['amount', 1000],
    ['toAddress', '0x0000000000000000000000000000000000000000'],
    ['toAddress', '0x000000000000000000000000000000000000DEad'],
    ['toAddress', 'dead'],
    ['id', 'a/b'],
    ['id', ' '],
    ['extra', 1],
  ])('T7 %s %j is a 400', async (field, value) => {
    const fromAddress = await deriveTestAddress(wallet.url, 'm/44/60/6/3')
    const order = {
      id: 'bad-1',
      derivationPath: 'm/44/60/6/3',
      fromAddress,
      toAddress: recipient,
      amount: '1',
      [field]: value,
    }
    expect(await orderTestTransfer(wallet.url, order)).toMatchObject({
      status: 400,
      body: { code: 400, details: [{ field }] },
    })
  })
})

describe('errors', () => {
  test.each([[null], ['wrong-token'], [''], ['a b']])('the token %j is refused with a 401', async (token) => {
    const answer = await call(wallet.url, '/addresses', { body: addressOrder, token })
    expect(answer).toMatchObject({
      status: 401,
      body: { error: 'Unauthorized', code: 401, message: expect.any(String) },
    })
    expect(answer.headers.get('www-authenticate')).toBe('Bearer')
  })

  test('the token is checked before the body', async () => {
    expect((await call(wallet.url, '/addresses', { body: { wrong: true }, token: null })).status).toBe(401)
  })

  test('broken JSON, a body that is too large and an unknown route are answered in the same form of error', async () => {
    expect(await call(wallet.url, '/addresses', { body: '{"network":' })).toMatchObject({
      status: 400,
      body: { code: 400 },
    })
    expect(await call(wallet.url, '/addresses', { body: '{"__proto__": {"a": 1}}' })).toMatchObject({ status: 400 })
    const large = JSON.stringify({ network: 'x'.repeat(70_000) })
    expect(await call(wallet.url, '/addresses', { body: large })).toMatchObject({ status: 413, body: { code: 413 } })
    expect(await call(wallet.url, '/nothing')).toMatchObject({ status: 404, body: { code: 404 } })
    // The router refuses these before there is a route.
    expect(await call(wallet.url, '/transfers/%zz')).toMatchObject({ status: 400, body: { code: 400 } })
    const endless = await fetch(`${wallet.url}/transfers/${'x'.repeat(5_000)}`)
    expect(await endless.json()).toEqual({ error: 'URI Too Long', message: expect.any(String), code: 414 })
  })

  test('health needs no token and reports how far the chains are read', async () => {
    const { status, body } = await call(wallet.url, '/healthz', { token: null })
    expect(status).toBe(200)
    expect(body).toMatchObject({ status: 'ok', networks: [{ network: 'ethereum', reachable: true }] })
  })
})

test('a node that serves another chain than the configured one is not used', async () => {
  const config = testConfig({ databaseUrl: database.url, rpcUrl: anvil.rpcUrl })
  const node = await startNodeProxy(anvil.rpcUrl)
  const other = await startWallet({
    ...config,
    clients: [],
    chains: { elsewhere: { rpcUrl: node.rpcUrl, chainId: 1, confirmations: 1, pollMilliseconds: 50 } },
  })
  try {
    const derivationPath = 'm/44/60/7/0'
    const order = { network: 'elsewhere', coinType: 60, derivationPath }
    const { body } = await call<{ address: string }>(other.url, '/addresses', { body: order })
    const transfer = {
      id: 'elsewhere-1',
      ...order,
      fromAddress: body.address,
      toAddress: recipient,
      contractAddress: null,
      amount: '1',
    }
    await call(other.url, '/transfers', { body: transfer })
    // The sender and the watcher query the chain id in every pass, the watcher less often.
    const before = node.control.chainIdsAsked
    await waitFor('passes of the sender', async () => node.control.chainIdsAsked > before + 6)
    expect((await call(other.url, '/transfers/elsewhere-1')).body).toMatchObject({ status: 'queued', txHash: null })
    expect((await call(other.url, '/healthz')).body).toMatchObject({
      networks: [{ reachable: false, headBlock: null }],
    })
  } finally {
    await other.stop()
    await node.stop()
  }
})

describe('secrets', () => {
  test('neither mnemonic nor token can be read in the database', async () => {
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()
    const { rows } = await client.query<{ sealed_mnemonic: Buffer; token_hash: Buffer }>('select * from wallet.clients')
    await client.end()
    expect(rows).toHaveLength(2)
    const words = rows.map(({ sealed_mnemonic }) => sealed_mnemonic.toString('latin1').match(/([a-z]{3,8} ){5}/))
    expect(words).toEqual([null, null])
    expect(rows.some(({ token_hash }) => token_hash.toString('latin1').includes('token'))).toBe(false)
  })

  test('a wrong passphrase refuses to start', async () => {
    const config = testConfig({ databaseUrl: database.url, rpcUrl: anvil.rpcUrl, passphrase: 'another passphrase' })
    await expect(startWallet(config)).rejects.toThrow('WALLET_PASSPHRASE does not open the key store in this database')
  })

  test('a client whose token was changed keeps its addresses', async () => {
    const before = await deriveTestAddress(wallet.url, 'm/44/60/8/0')
    await wallet.stop()
    const token = 'a-new-token-of-the-first-vault'
    const config = testConfig({ databaseUrl: database.url, rpcUrl: anvil.rpcUrl, clients: [{ name: 'first', token }] })
    wallet = await startWallet(config)
    expect(await deriveTestAddress(wallet.url, 'm/44/60/8/0', token)).toBe(before)
    expect((await call(wallet.url, '/addresses', { body: addressOrder })).status).toBe(401)
  })
})
