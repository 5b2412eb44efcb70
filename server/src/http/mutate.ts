import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { prepared, type Trx } from '../db/client.ts'
import { inTransaction, violates } from '../db/transaction.ts'
import type { Deps } from '../deps.ts'
import { AppError, badRequest, conflict, toErrorBody } from '../lib/errors.ts'
import { idempotencyKeyLengthMax, idempotencyRunningMinutesMax } from '../lib/limits.ts'
import { type Place, sha256 } from '../lib/secrets.ts'

/**
 * The answer to a write. A refusal that writes an audit record is an answer too, and is committed. `secrets` names the fields
 * of the body that are shown once. They are not stored, and the answer to a repetition omits them.
 */
export type Answer = { status: number; body?: unknown; secrets?: readonly string[] } | Refusal
export type Refusal = { refusal: AppError }

/** A body with its status. The mark distinguishes it from a body with fields of the same names. */
export type Answered<Status, Body> = { status: Status; body: Body; readonly [mark]: true }
const mark = Symbol('answer')
const answered =
  <Status extends number>(status: Status) =>
  <Body>(body: Body): Answered<Status, Body> => ({ status, body, [mark]: true })

export const ok = answered(200)
export const created = answered(201)
export const accepted = answered(202)

export const isAnswered = (value: unknown): value is Answered<number, unknown> =>
  typeof value === 'object' && value !== null && mark in value
export const isRefusal = (value: unknown): value is Refusal =>
  typeof value === 'object' && value !== null && 'refusal' in value && value.refusal instanceof AppError

/**
 * Converts the result of a handler to an answer. A body without a status gets the only status that its endpoint documents
 * besides 202.
 */
export function toAnswer(
  { answers, secrets }: { answers: Record<number, unknown>; secrets?: readonly string[] },
  returned: unknown,
): Answer {
  if (isRefusal(returned)) return returned
  const status = Object.keys(answers)
    .map(Number)
    .find((documented) => documented !== 202)
  const answer: Answer = isAnswered(returned) ? returned : { status: status ?? 202, body: returned }
  return secrets === undefined ? answer : { ...answer, secrets }
}

/**
 * The result of a handler that has sent its answer, of the type `A`, which the compiler compares with the documented answers. It is
 * not the reply: a FastifyReply is thenable, so that a promise of it would lose the type.
 */
export type Sent<A> = { readonly [sent]: true; readonly [answerType]?: A }
const sent = Symbol('sent')
declare const answerType: unique symbol

export const isSent = (value: unknown): value is Sent<unknown> =>
  typeof value === 'object' && value !== null && sent in value

/**
 * Runs a write: one transaction for its effect, its audit records, its mails and, when the request carries an
 * Idempotency-Key, its stored answer. The same caller, key, method, path and body get the stored answer again.
 */
export async function mutate<A extends Answer>(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  work: (trx: Trx) => Promise<A>,
): Promise<Sent<A>> {
  const key = readIdempotencyKey(request)
  const answer = await (key === null
    ? inTransaction(deps.db, work).then((fresh) => serialise(fresh, request.id))
    : once(deps, request, useOf(deps, request, key), work))
  return send(reply, answer)
}

/**
 * Answers a request whose work runs in no transaction of its own, because it calls other services or consists of several
 * writes. With an Idempotency-Key the work runs once: the key is taken before it begins, and given back when it fails.
 */
export async function answerOnce<A extends Answer>(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  work: () => Promise<A>,
): Promise<Sent<A>> {
  const key = readIdempotencyKey(request)
  if (key === null) return send(reply, serialise(await work(), request.id))
  const use = useOf(deps, request, key)
  const replayed = await withKey(deps, use, async (trx) => {
    await store(deps, trx, use, { status: running, text: null, headers: {} })
    return null
  })
  if (replayed !== null) return send(reply, replayed)
  const answer = await work().catch(async (error: unknown) => {
    await inTransaction(deps.db, (trx) => giveBack(trx, use)).catch((err) =>
      deps.log.warn({ err }, 'key not given back'),
    )
    throw error
  })
  await inTransaction(deps.db, async (trx) => {
    if (await giveBack(trx, use)) await store(deps, trx, use, serialise(withoutSecrets(answer), request.id))
  })
  return send(reply, serialise(answer, request.id))
}

function send(reply: FastifyReply, { status, text, headers }: Serialised): Sent<never> {
  reply.code(status).headers(headers)
  if (text === null) reply.send()
  else {
    if (!reply.hasHeader('content-type')) reply.type('application/json; charset=utf-8')
    reply.send(text)
  }
  return { [sent]: true }
}

type Serialised = { status: number; text: string | null; headers: Record<string, string> }

function serialise(answer: Answer, requestId: string): Serialised {
  if ('refusal' in answer) {
    const { refusal } = answer
    return { status: refusal.status, text: JSON.stringify(toErrorBody(refusal, requestId)), headers: refusal.headers }
  }
  return { status: answer.status, text: answer.body === undefined ? null : JSON.stringify(answer.body), headers: {} }
}

function withoutSecrets(answer: Answer): Answer {
  if ('refusal' in answer || answer.secrets === undefined) return answer
  const kept = Object.entries(answer.body as object).filter(([name]) => !answer.secrets!.includes(name))
  return { status: answer.status, body: Object.fromEntries(kept) }
}

/**
 * Returns the scope of an Idempotency-Key: the caller, or for anonymous requests the hash of the request. A stranger who
 * guesses a key can neither read the stored answer nor block the key.
 */
function scopeOf(request: FastifyRequest): string {
  return request.caller?.userId ?? request.directory?.id ?? `anonymous ${fingerprintOf(request).toString('hex')}`
}

function fingerprintOf(request: FastifyRequest): Buffer {
  return sha256(JSON.stringify([request.method, request.url, request.body ?? null]))
}

function readIdempotencyKey(request: FastifyRequest): string | null {
  const header = request.headers['idempotency-key']
  if (header === undefined) return null
  const key = Array.isArray(header) ? header.join(',') : header
  if (key.length > idempotencyKeyLengthMax || !/^[\x21-\x7e]+$/.test(key)) {
    throw badRequest('Idempotency-Key', `must be 1 to ${idempotencyKeyLengthMax} visible ASCII characters`)
  }
  return key
}

/** The use of a key by a request. */
type Use = { callerId: string; key: string; fingerprint: Buffer; at: Date }

const useOf = (deps: Deps, request: FastifyRequest, key: string): Use => ({
  callerId: scopeOf(request),
  key,
  fingerprint: fingerprintOf(request),
  at: deps.clock(),
})

function once(deps: Deps, request: FastifyRequest, use: Use, work: (trx: Trx) => Promise<Answer>): Promise<Serialised> {
  return withKey(deps, use, async (trx) => {
    const answer = await work(trx)
    await store(deps, trx, use, serialise(withoutSecrets(answer), request.id))
    return serialise(answer, request.id)
  })
}

/** Runs `work` in the transaction that took the key, or returns the stored answer. @throws 409 */
async function withKey<Result>(
  deps: Deps,
  use: Use,
  work: (trx: Trx) => Promise<Result>,
): Promise<Result | Serialised> {
  const attempt = () => inTransaction(deps.db, async (trx) => (await takeKey(deps, trx, use)) ?? (await work(trx)))
  try {
    return await attempt()
  } catch (error) {
    // The first request committed between our snapshot and our lock, so that its answer exists now.
    if (violates(error, 'idempotency_keys_pkey')) return await attempt()
    throw error
  }
}

/** The status of a row whose request still runs, as seen from outside its transaction. */
const running = 0

/** Locks the key until the end of the transaction. Returns its stored answer, or null when the work must be done. */
async function takeKey(deps: Deps, trx: Trx, use: Use): Promise<Serialised | null> {
  const { callerId, key, fingerprint, at } = use
  type Row = { is_free: boolean } & (Stored | { fingerprint: null })
  const { rows } = await sql<Row>`${prepared}
    select l.is_free, k.fingerprint, k.status, k.body, k.created_at
    from (select pg_try_advisory_xact_lock(hashtextextended(${`${callerId} ${key}`}, 0)) as is_free) l
    left join idempotency_keys k on k.caller_id = ${callerId} and k.key = ${key}`.execute(trx)
  const row = rows[0]!
  if (!row.is_free) throw inUse()
  if (row.fingerprint === null) return null
  if (!row.fingerprint.equals(fingerprint)) {
    throw conflict('idempotency_key_reused', 'This Idempotency-Key was used for a different request')
  }
  if (row.status !== running) return replay(deps, row, use)
  if (at.getTime() - row.created_at.getTime() <= idempotencyRunningMinutesMax * 60_000) throw inUse()
  await giveBack(trx, { ...use, at: row.created_at })
  return null
}

const inUse = () => {
  const text = 'A request with this Idempotency-Key is still running'
  return new AppError('idempotency_key_in_use', text, { details: text, headers: { 'retry-after': '1' } })
}

async function store(deps: Deps, trx: Trx, use: Use, { status, ...answer }: Serialised): Promise<void> {
  const { callerId, key, fingerprint, at } = use
  const body = deps.sealer.seal(placeOfAnswer(use), packed(JSON.stringify(answer)))
  await trx
    .insertInto('idempotency_keys')
    .values({ caller_id: callerId, key, fingerprint, status, body, created_at: at })
    .modifyEnd(prepared)
    .execute()
}

/** Removes the row of a running request. Returns false when it has run for so long that another request took the key. */
async function giveBack(trx: Trx, { callerId, key, at }: Use): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('idempotency_keys')
    .where('caller_id', '=', callerId)
    .where('key', '=', key)
    .where('status', '=', running)
    .where('created_at', '=', at)
    .executeTakeFirst()
  return numDeletedRows === 1n
}

type Stored = { fingerprint: Buffer; status: number; body: Buffer; created_at: Date }

/** A longer answer is compressed before it is sealed, because PostgreSQL cannot compress it after that and stores it in pieces. */
const packedBytesMin = 1_000

/** JSON, which begins with a brace, or the base64 of its compressed bytes, which does not. */
const packed = (json: string): string =>
  json.length < packedBytesMin ? json : deflateRawSync(json, { level: 1 }).toString('base64')

const unpacked = (text: string): string =>
  text.startsWith('{') ? text : inflateRawSync(Buffer.from(text, 'base64')).toString()

const placeOfAnswer = ({ callerId, key }: Use): Place => ({
  table: 'idempotency_keys',
  column: 'body',
  row: [callerId, key],
})

function replay(deps: Deps, stored: Stored, use: Use): Serialised {
  const { text, headers } = JSON.parse(unpacked(deps.sealer.open(placeOfAnswer(use), stored.body))) as {
    text: string | null
    headers: Record<string, string>
  }
  return { status: stored.status, text, headers: { ...headers, 'idempotency-replayed': 'true' } }
}
