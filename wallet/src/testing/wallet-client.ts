import { setTimeout as sleep } from 'node:timers/promises'
import { Ajv } from 'ajv'
import type { WalletConfig } from '../config.ts'
import { operations } from '../operations.ts'
import { ErrorBody, type TransferOrder, type TransferStatus } from '../protocol.ts'
import { testPassphrase } from './database.ts'
import { webhookSecret } from './webhook-receiver.ts'

export const vaultToken = 'token-of-the-first-vault-0001'
export const otherVaultToken = 'token-of-the-other-vault-0002'

/** Returns the settings of a wallet on one local chain with two clients. `changes` replaces settings. */
export function testConfig(changes: Partial<WalletConfig> & { databaseUrl: string; rpcUrl: string }): WalletConfig {
  const { rpcUrl, ...others } = changes
  return {
    passphrase: testPassphrase,
    logLevel: process.env.TEST_LOG_LEVEL === 'info' ? 'info' : 'silent',
    port: 0,
    host: '127.0.0.1',
    chains: {
      ethereum: { rpcUrl, chainId: 31337, confirmations: 1, pollMilliseconds: 50, askAgainSeconds: 1 },
    },
    webhookUrl: 'http://127.0.0.1:9/unused',
    webhookSecret,
    clients: [
      { name: 'first', token: vaultToken },
      { name: 'other', token: otherVaultToken },
    ],
    ...others,
  }
}

type Answer<T> = { status: number; body: T; headers: Headers }

/** Calls the protocol over HTTP and checks that the published schema declares the status and form of every answer. */
export async function call<T = Record<string, unknown>>(
  url: string,
  path: string,
  { body, token = vaultToken }: { body?: unknown; token?: string | null } = {},
): Promise<Answer<T>> {
  const response = await fetch(url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const answer: unknown = await response.json()
  assertPublished(response.status, path, body === undefined ? 'get' : 'post', answer)
  return { status: response.status, body: answer as T, headers: response.headers }
}

const ajv = new Ajv({ strict: false, validateFormats: false })

function assertPublished(status: number, path: string, method: string, answer: unknown) {
  const [pathname = ''] = path.split('?')
  const operation = Object.values(operations).find(
    (candidate) =>
      candidate.method === method && new RegExp(`^${candidate.path.replace(/:\w+/, '[^/]+')}$`).test(pathname),
  )
  const declared = operation?.schema.response as Record<number, object> | undefined
  // An unknown route, or an error of HTTP itself, such as a body too large, is answered in the common error form.
  const schema = declared?.[status] ?? (declared === undefined || status === 413 ? ErrorBody : undefined)
  if (!schema) throw new Error(`${method} ${path} answers ${status}, which is not published`)
  if (!ajv.validate(schema, answer))
    throw new Error(`${method} ${path} ${status}: ${ajv.errorsText()} in ${JSON.stringify(answer)}`)
}

export async function deriveTestAddress(
  url: string,
  derivationPath: string,
  token = vaultToken,
): Promise<`0x${string}`> {
  const order = { network: 'ethereum', coinType: 60, derivationPath }
  const { body } = await call<{ address: `0x${string}` }>(url, '/addresses', { body: order, token })
  return body.address
}

export async function orderTestTransfer(
  url: string,
  order: Partial<TransferOrder> & {
    id: string
    derivationPath: string
    fromAddress: string
    toAddress: string
    amount: string
  },
): Promise<Answer<TransferStatus>> {
  return await call(url, '/transfers', { body: { network: 'ethereum', coinType: 60, contractAddress: null, ...order } })
}

export async function waitForTransfer(url: string, id: string): Promise<TransferStatus> {
  return await waitFor(`transfer ${id} to settle`, async () => {
    const { body } = await call<TransferStatus>(url, `/transfers/${id}`)
    return body.status === 'confirmed' || body.status === 'failed' ? body : null
  })
}

/** Repeats the request until the answer is neither null nor false. */
export async function waitFor<T>(
  what: string,
  ask: () => Promise<T | null | false>,
  timeoutMilliseconds = 150_000,
): Promise<T> {
  const deadline = Date.now() + timeoutMilliseconds
  for (;;) {
    const answer = await ask()
    if (answer !== null && answer !== false) return answer
    if (Date.now() > deadline) throw new Error(`waited in vain for ${what}`)
    await sleep(30)
  }
}
