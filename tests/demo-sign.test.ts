import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newPasskey } from '../demo/src/software-passkey.ts'
import { hashOf, type Order, type SignedVote } from '../sdk/src/signing/signing.ts'
import { authorityDocument, inDays, orderWith, supplier, tusd, unknownToken } from '../sdk/src/testing/signed-orders.ts'

/** The signing tool of the demo, and a service that answers anything. */

const program = new URL('../demo/dist/sign.js', import.meta.url).pathname
const { feeLevel: _, maxFee: __, ...plain } = orderWith({ amount: '500000000000000000', expiresAt: inDays(3) })
const honest: Order = plain
const stranger = 'mallory'

type Sent = { path: string; body: { signed?: { vote: SignedVote }; signature?: SignedVote } }

let server: Server
let dataDir: string
let payload: Partial<Order>
let document: object
const sent: Sent[] = []

/** The answers of the service, by the end of the path. */
function answerTo(path: string, body: Sent['body']): object {
  if (path.endsWith('/authority')) return { document }
  if (path.endsWith('/transfers/preview')) return { order: payload }
  if (path.endsWith(`/transfers/${honest.transferId}`)) return { payload }
  if (path.includes('/auth/')) return { nonce: 'AAAA', timeout: 1_000, user: { id: 'ada' }, token: 'a session' }
  sent.push({ path, body })
  return { id: honest.transferId, status: 'approved' }
}

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const body = parts.length === 0 ? {} : JSON.parse(Buffer.concat(parts).toString())
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answerTo(request.url!, body)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  dataDir = await mkdtemp(join(tmpdir(), 'strongroom-sign-'))
  const { vaultId, fromAddressId: addressId, fromAddress: address } = honest
  const urls = { baseUrl, origin: 'http://localhost:8420', walletUrl: 'http://127.0.0.1:8421' }
  const reserve = { ...urls, vaultId, addressId, address, userIds: { anna: 'ada', ben: 'ben' } }
  await mkdir(join(dataDir, 'reserve'))
  const write = (name: string, value: object) => writeFile(join(dataDir, `reserve/${name}.json`), JSON.stringify(value))
  await write('reserve', reserve)
  await write('anna.passkey', newPasskey())
  await write('anna.signing-key', newPasskey())
})
afterAll(async () => {
  server.close()
  await rm(dataDir, { recursive: true })
})
beforeEach(() => {
  sent.length = 0
  payload = honest
  document = authorityDocument
})

const commands: Record<'order' | 'approve', string[]> = {
  order: ['order', 'anna', '0.5', supplier],
  approve: ['approve', 'anna', honest.transferId, '0.5', supplier],
}

/** The text that the tool shows to its user, of both outputs. */
const run = (words: string[]): Promise<string> =>
  new Promise((resolve) => {
    const env = { ...process.env, DATA_DIR: dataDir }
    execFile(process.execPath, [program, ...words], { env }, (_, stdout, stderr) => resolve(stderr + stdout))
  })

const signatures = () => sent.map(({ body }) => body.signature ?? body.signed?.vote).filter(Boolean)

describe.each(['order', 'approve'] as const)(
  'T80 a service that was taken over, and %s of the demo’s tool',
  (command) => {
    it('T80 signs the typed values, and prints all of them', async () => {
      const told = await run(commands[command])
      expect(signatures()).toMatchObject([{ vote: { subject: 'transfer', hash: await hashOf(honest), person: 'ada' } }])
      const { vaultId, network, contractAddress, amount, ...shown } = honest
      for (const value of [...Object.values(shown), '0.5 ETH']) expect(told).toContain(String(value))
    })

    it.each<[string, Partial<Order>]>([
      ['amount × 1000', { amount: `${honest.amount}000` }],
      ['another token', { contractAddress: tusd }],
      ['a token that no authority names', { contractAddress: unknownToken }],
      ['another recipient', { toAddress: unknownToken }],
      ['another sender', { fromAddress: unknownToken }],
      ['another address of the vault', { fromAddressId: 'address-2' }],
      ['another network', { network: 'polygon' }],
      ['another vault', { vaultId: 'vault-2' }],
      ['another initiator', { initiatorId: stranger }],
      ['a limit of the fee', { maxFee: '90000000000000000' }],
      ['another level of the fee', { feeLevel: 'high' }],
      ['no end', { expiresAt: '9999-12-31T00:00:00.000Z' }],
      ['an end in 20 days', { expiresAt: inDays(20) }],
      ['an end that has passed', { expiresAt: inDays(-1) }],
      ['an unknown field', { note: 'x' } as object],
    ])('T80 signs nothing with %s', async (_name, part) => {
      payload = { ...honest, ...part }
      await run(commands[command])
      expect(signatures()).toEqual([])
    })

    it.each<[string, Partial<Order>, object]>([
      ['of another network', { network: 'polygon' }, { network: 'polygon' }],
      ['that is a token', { contractAddress: tusd }, { contractAddress: tusd }],
    ])('T80 signs nothing in an ether %s, which the authority also has', async (_name, part, rule) => {
      payload = { ...honest, ...part }
      const [ether] = authorityDocument.rules
      document = { ...authorityDocument, rules: [ether, { ...ether, ...rule }] }
      await run(commands[command])
      expect(signatures()).toEqual([])
    })

    it('T80 signs nothing for another vault with the authority of that vault', async () => {
      payload = { ...honest, vaultId: 'vault-2' }
      document = { ...authorityDocument, vaultId: 'vault-2' }
      await run(commands[command])
      expect(signatures()).toEqual([])
    })

    it('T80 signs nothing in another unit than ether', async () => {
      const [ether, token] = authorityDocument.rules
      document = { ...authorityDocument, rules: [{ ...ether, symbol: 'TUSD' }, token] }
      await run(commands[command])
      document = { ...authorityDocument, rules: [{ ...ether, decimals: 15 }, token] }
      await run(commands[command])
      expect(signatures()).toEqual([])
    })
  },
)

it('T80 the demo’s tool signs the typed limit of the fee', async () => {
  payload = { ...honest, maxFee: '2000000000000000' }
  await run([...commands.order, '0.002'])
  expect(signatures()).toMatchObject([{ vote: { hash: await hashOf(payload) } }])
  sent.length = 0
  for (const maxFee of ['2000000000000001', undefined]) {
    const { maxFee: _, ...rest } = payload
    payload = { ...rest, ...(maxFee === undefined ? {} : { maxFee }) }
    await run([...commands.order, '0.002'])
  }
  expect(signatures()).toEqual([])
})
