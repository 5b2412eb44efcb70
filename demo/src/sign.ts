import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createStrongroom, type Strongroom, StrongroomError, type TransferPayload, type Vote } from '@strongroom/sdk'
import { hashOf } from './canonical.ts'
import { type KeeperName, keeperNames, type Reserve, readPasskey, readReserve, reserveCode } from './reserve.ts'
import type { SoftwarePasskey } from './software-passkey.ts'

/** Orders and votes in the protected vault of the demo, with a passkey in software: `npm run demo:sign`. */

const usage = `npm run demo:sign -- order NAME AMOUNT TO      order ether; prints the id of the transfer
npm run demo:sign -- approve NAME TRANSFER     approve; prints the status
NAME: ${keeperNames.join(', ')}`
const waitMilliseconds = 60_000

class UsageError extends Error {}

const dataDir = resolve(process.env.DATA_DIR?.trim() || './.strongroom')
const [command, who, ...words] = process.argv.slice(2)

try {
  const work = { order, approve }[command ?? '']
  const name = keeperNames.find((one) => one === who)
  if (work === undefined || name === undefined) throw new UsageError(usage)
  print(await work(await enter(name), ...words))
} catch (error) {
  if (error instanceof StrongroomError) print(`refused: ${error.status} ${error.reason}`)
  else
    process.stderr.write(`${error instanceof UsageError ? error.message : `demo:sign: ${(error as Error).message}`}\n`)
  process.exitCode = 1
}

type Signer = { client: Strongroom; key: SoftwarePasskey; person: string; reserve: Reserve }

async function order({ client, key, person, reserve }: Signer, amount = '', toAddress = ''): Promise<string> {
  const { transfers } = client.vault(reserveCode)
  const wanted = { fromAddressId: reserve.addressId, toAddress, token: 'ETH', amount }
  const { order: payload } = await transfers.preview(wanted)
  if (payload === undefined) throw new Error('the vault asks for no signature')
  // The service resolved the order: what it made of the recipient is compared before it is signed.
  if (payload.toAddress.toLowerCase() !== toAddress.toLowerCase()) throw new Error('the service changed the recipient')
  const { transferId, expiresAt, rulesVersion } = payload
  if (expiresAt === undefined || rulesVersion === undefined) throw new Error('the order has no end')
  const vote = key.vote(show(payload, 'initiate', { person, authority: await authorityOf(client) }))
  const { id } = await transfers.create({ ...wanted, signed: { transferId, expiresAt, rulesVersion, vote } })
  return id
}

async function approve({ client, key, person }: Signer, id = ''): Promise<string> {
  const { transfers } = client.vault(reserveCode)
  const { payload } = await transfers.get(id)
  const vote = show(payload, 'approve', { person, authority: await authorityOf(client) })
  const { status } = await transfers.approve(id, { payloadHash: vote.hash, signature: key.vote(vote) })
  return status
}

/** What is signed: the hash is computed from the order that is shown, and not taken from the service. */
function show(payload: TransferPayload, decision: Vote['decision'], by: Pick<Vote, 'person' | 'authority'>): Vote {
  process.stderr.write(`signed: ${decision} ${payload.amount} wei to ${payload.toAddress}\n`)
  const about = { hash: hashOf(payload), decision, signedAt: new Date().toISOString() }
  return { format: 'strongroom-vote-2', subject: 'transfer', ...about, ...by }
}

/** Hash of the authority in force, which the vote names. */
async function authorityOf(client: Strongroom): Promise<string> {
  return hashOf((await client.vault(reserveCode).authority.get()).document)
}

/** Signs in with the passkey. */
async function enter(name: KeeperName): Promise<Signer> {
  const reserve = await untilReady()
  const key = readPasskey(dataDir, name, reserve.origin)
  if (key === null) throw new Error(`there is no passkey of ${name} in ${dataDir}`)
  const { auth } = createStrongroom({ baseUrl: reserve.baseUrl, fetch: withCookie() })
  const credential = await key.signIn(await auth.preparePasskeySignIn())
  const { user, token } = await auth.signInWithPasskey({ credential })
  if (token === undefined) throw new Error('the session got lost; try again')
  return { client: createStrongroom({ baseUrl: reserve.baseUrl, token }), key, person: user.id, reserve }
}

/** `npm start` sets the vault up after it is ready. */
async function untilReady(): Promise<Reserve> {
  for (const deadline = Date.now() + waitMilliseconds; Date.now() < deadline; await sleep(200)) {
    const reserve = readReserve(dataDir)
    if (reserve !== null) return reserve
  }
  throw new Error(`there is no vault ${reserveCode} in ${dataDir}; does npm start run?`)
}

/** The answer of a passkey counts in the browser that asked for it, which a cookie tells. */
function withCookie(): typeof fetch {
  let cookie = ''
  return async (input, init) => {
    const request = new Request(input, init)
    if (cookie !== '') request.headers.set('cookie', cookie)
    const response = await fetch(request)
    cookie = response.headers.getSetCookie()[0]?.split(';')[0] ?? cookie
    return response
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
