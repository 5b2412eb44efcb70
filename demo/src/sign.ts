import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createStrongroom, type Strongroom, StrongroomError, toRaw } from '@strongroom/sdk'
import {
  describeOrder,
  type Expected,
  type OrderDescription,
  passkeySigner,
  readAuthority,
  readOrder,
  type Signer,
  signApproval,
  signOrder,
  textOf,
  toBase64url,
} from '@strongroom/sdk/signing'
import {
  type KeeperName,
  keeperNames,
  type Reserve,
  readPasskey,
  readReserve,
  reserveCode,
  signingOriginOf,
} from './reserve.ts'
import type { SoftwarePasskey } from './software-passkey.ts'

/** Orders and votes in the protected vault of the demo, with a passkey in software: `npm run demo:sign`. */

const usage = `npm run demo:sign -- order NAME AMOUNT TO [MAX_FEE]        order ether; prints the id of the transfer
npm run demo:sign -- approve NAME TRANSFER AMOUNT TO    approve exactly this payment; prints the status
NAME: ${keeperNames.join(', ')}`
const waitMilliseconds = 60_000
/** All keepers pay ether only. */
const coin = { symbol: 'ETH', decimals: 18 }
/** The longest time for which a keeper lets an order wait. */
const daysMax = 8

class UsageError extends Error {}

const dataDir = resolve(process.env.DATA_DIR?.trim() || './.strongroom')
const [command, who, ...words] = process.argv.slice(2)

try {
  const work = { order, approve }[command ?? '']
  const name = keeperNames.find((keeper) => keeper === who)
  if (work === undefined || name === undefined) throw new UsageError(usage)
  print(await work(await enter(name), ...words))
} catch (error) {
  if (error instanceof StrongroomError) print(`refused: ${error.status} ${error.reason}`)
  else
    process.stderr.write(`${error instanceof UsageError ? error.message : `demo:sign: ${(error as Error).message}`}\n`)
  process.exitCode = 1
}

type Person = { client: Strongroom; signingKey: SoftwarePasskey; person: string; reserve: Reserve }
/** The values that the person typed. */
type Payment = { amount: string; toAddress: string; maxFee?: string }

async function order(by: Person, amount = '', toAddress = '', maxFee?: string): Promise<string> {
  const { transfers } = by.client.vault(reserveCode)
  const fee = maxFee === undefined ? {} : { maxFee: String(toRaw(maxFee, coin)) }
  const wanted = { fromAddressId: by.reserve.addressId, toAddress, token: coin.symbol, amount, ...fee }
  const { order: payload } = await transfers.preview(wanted)
  if (payload === undefined) throw new Error('the vault asks for no signature')
  const payment = { amount, toAddress, ...(maxFee === undefined ? {} : { maxFee }) }
  const expected = await expect(payload, by.person, payment, by)
  const vote = await signOrder(payload, expected, signerOf(by))
  const { transferId, expiresAt, rulesVersion } = expected.terms
  const { id } = await transfers.create({ ...wanted, signed: { transferId, expiresAt, rulesVersion, vote } })
  return id
}

async function approve(by: Person, id = '', amount = '', toAddress = ''): Promise<string> {
  if (toAddress === '') throw new UsageError(usage)
  const { transfers } = by.client.vault(reserveCode)
  const { payload } = await transfers.get(id)
  const { initiatorId } = readOrder(payload)
  if (!Object.values(by.reserve.userIds).includes(initiatorId))
    throw new Error('the initiator is not a keeper of this vault')
  // An order with a fee limit is not approved here, because the approver does not type the limit.
  const expected = await expect(payload, initiatorId, { amount, toAddress }, by)
  const signature = await signApproval({ kind: 'transfer', order: payload, expected }, signerOf(by))
  const { status } = await transfers.approve(id, { payloadHash: signature.vote.hash, signature })
  return status
}

/**
 * Builds the order that the person expects to sign: the typed values, from the address of the vault, in ether, with an
 * end within days. First prints everything that is signed, in the units of the authority.
 */
async function expect(
  payload: unknown,
  initiatorId: string,
  payment: Payment,
  { client, reserve }: Person,
): Promise<Expected> {
  const vault = client.vault(reserveCode)
  const authority = await readAuthority((await vault.authority.get()).document)
  const shown = describeOrder(payload, authority)
  show(shown)
  if (shown.amount.named?.symbol !== coin.symbol) throw new Error(`the authority does not pay in ${coin.symbol}`)
  if (Date.parse(shown.terms.expiresAt) > Date.now() + daysMax * 86_400_000)
    throw new Error(`the service lets it wait longer than ${daysMax} days`)
  return {
    ...{ authority, initiatorId, vaultId: reserve.vaultId, network: 'ethereum', contractAddress: null },
    ...{ fromAddress: reserve.address, ...payment },
    terms: { ...shown.terms, fromAddressId: reserve.addressId },
  }
}

function show({ amount, recipient, sender, feeLimit, initiator, terms }: OrderDescription): void {
  const fee = feeLimit === null ? 'no fee limit' : `fees up to ${textOf(feeLimit)}`
  process.stderr.write(`${textOf(amount)} from ${sender} to ${recipient}, ${fee}, until ${terms.expiresAt},\n`)
  const { expiresAt: _, ...rest } = terms
  process.stderr.write(`ordered by ${initiator.id}; ${JSON.stringify(rest)}\n`)
}

function signerOf({ person, signingKey }: Person): Signer {
  return passkeySigner(person, (challenge) => signingKey.get(toBase64url(challenge)))
}

/** Signs in with the passkey for the service's pages. Another passkey signs orders and votes. */
async function enter(name: KeeperName): Promise<Person> {
  const reserve = await untilReady()
  const key = readPasskey(dataDir, name, { purpose: 'sign-in', origin: reserve.origin })
  const signingOrigin = signingOriginOf(reserve.walletUrl)
  const signingKey = readPasskey(dataDir, name, { purpose: 'signing', origin: signingOrigin })
  if (key === null || signingKey === null) throw new Error(`there is no passkey of ${name} in ${dataDir}`)
  const { auth } = createStrongroom({ baseUrl: reserve.baseUrl, fetch: withCookie() })
  const credential = await key.signIn(await auth.preparePasskeySignIn())
  const { user, token } = await auth.signInWithPasskey({ credential })
  if (token === undefined) throw new Error('the session was lost; try again')
  return { client: createStrongroom({ baseUrl: reserve.baseUrl, token }), signingKey, person: user.id, reserve }
}

/** Waits for the vault, which `npm start` sets up after it is ready. */
async function untilReady(): Promise<Reserve> {
  for (const deadline = Date.now() + waitMilliseconds; Date.now() < deadline; await sleep(200)) {
    const reserve = readReserve(dataDir)
    if (reserve !== null) return reserve
  }
  throw new Error(`there is no vault ${reserveCode} in ${dataDir}; does npm start run?`)
}

/**
 * Keeps cookies, because the answer of a passkey counts only in the browser that requested it, and a cookie identifies
 * the browser.
 */
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
