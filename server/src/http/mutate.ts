import type { FastifyReply, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { type Db, prepared, type Trx } from '../db/client.ts'
import { inTransaction, violates } from '../db/transaction.ts'
import type { Deps } from '../deps.ts'
import { AppError, badRequest, conflict, toErrorBody } from '../lib/errors.ts'
import { idempotencyKeyLengthMax } from '../lib/limits.ts'
import { type Place, sha256 } from '../lib/secrets.ts'

/**
 * The answer to a write. A refusal that writes an audit record is an answer too, and is committed. `secrets` names the
 * fields of the body that are shown once: they are not stored, and the answer to a repetition omits them.
 */
export type Answer = { status: number; body?: unknown; secrets?: readonly string[] } | Refusal
export type Refusal = { refusal: AppError }

/** A body with its status. The mark tells it from a body, which may have fields of the same names. */
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

/** What a handler returned, as an answer: a body without a status gets the only one that its endpoint documents beside 202. */
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

/** A reply that was sent with one of these. The type carries them to where an endpoint documents its answers. */
export type Sent<A> = FastifyReply & { readonly [sent]?: A }
declare const sent: unique symbol

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
    : once(deps, request, key, work))
  return send(reply, answer)
}

/**
 * Answers a POST that changes nothing, such as a preview. With an Idempotency-Key its answer is stored like that of a write,
 * so that a repetition gets the same answer. `read` may call other services: it runs in no transaction.
 */
export async function answerOnce<A extends Answer>(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  read: () => Promise<A>,
): Promise<Sent<A>> {
  const key = readIdempotencyKey(request)
  if (key === null) return send(reply, serialise(await read(), request.id))
  const callerId = scopeOf(request)
  const { stored } = await claim(deps.db, callerId, key)
  if (stored !== null) {
    return send(reply, replay(deps, stored, { callerId, key, fingerprint: fingerprintOf(request) }))
  }
  const answer = await read()
  return mutate(deps, request, reply, async () => answer)
}

function send(reply: FastifyReply, answer: Serialised): FastifyReply {
  for (const [name, value] of Object.entries(answer.headers)) reply.header(name, value)
  reply.code(answer.status)
  return answer.text === null ? reply.send() : reply.type('application/json; charset=utf-8').send(answer.text)
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
 * The scope of an Idempotency-Key: the caller, or for anonymous requests the hash of the request. A stranger who guesses
 * a key can neither read the stored answer nor block the key.
 */
function scopeOf(request: FastifyRequest): string {
  return request.caller?.userId ?? `anonymous ${fingerprintOf(request).toString('hex')}`
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

async function once(
  deps: Deps,
  request: FastifyRequest,
  key: string,
  work: (trx: Trx) => Promise<Answer>,
): Promise<Serialised> {
  const callerId = scopeOf(request)
  const fingerprint = fingerprintOf(request)
  const attempt = () =>
    inTransaction(deps.db, async (trx): Promise<Serialised> => {
      const { isFree, stored } = await claim(trx, callerId, key)
      if (!isFree) throw conflict('idempotency_key_in_use', 'A request with this Idempotency-Key is still running')
      if (stored !== null) return replay(deps, stored, { callerId, key, fingerprint })
      const answer = await work(trx)
      const fresh = serialise(answer, request.id)
      const kept = serialise(withoutSecrets(answer), request.id)
      await trx
        .insertInto('idempotency_keys')
        .values({
          caller_id: callerId,
          key,
          fingerprint,
          status: fresh.status,
          body: deps.sealer.seal(
            placeOfAnswer(callerId, key),
            JSON.stringify({ text: kept.text, headers: kept.headers }),
          ),
          created_at: deps.clock(),
        })
        .modifyEnd(prepared)
        .execute()
      return fresh
    })
  try {
    return await attempt()
  } catch (error) {
    // The first request committed between our snapshot and our lock: its answer is there now.
    if (violates(error, 'idempotency_keys_pkey')) return await attempt()
    throw error
  }
}

type Stored = { fingerprint: Buffer; status: number; body: Buffer }

async function claim(db: Db | Trx, callerId: string, key: string): Promise<{ isFree: boolean; stored: Stored | null }> {
  const { rows } = await sql<{ is_free: boolean; fingerprint: Buffer | null; status: number; body: Buffer }>`${prepared}
    select l.is_free, k.fingerprint, k.status, k.body
    from (select pg_try_advisory_xact_lock(hashtextextended(${`${callerId} ${key}`}, 0)) as is_free) l
    left join idempotency_keys k on k.caller_id = ${callerId} and k.key = ${key}`.execute(db)
  const row = rows[0]!
  return {
    isFree: row.is_free,
    stored: row.fingerprint === null ? null : { fingerprint: row.fingerprint, status: row.status, body: row.body },
  }
}

type Repeated = { callerId: string; key: string; fingerprint: Buffer }

const placeOfAnswer = (callerId: string, key: string): Place => ({
  table: 'idempotency_keys',
  column: 'body',
  row: [callerId, key],
})

function replay(deps: Deps, stored: Stored, { callerId, key, fingerprint }: Repeated): Serialised {
  if (!stored.fingerprint.equals(fingerprint)) {
    throw conflict('idempotency_key_reused', 'This Idempotency-Key was used for a different request')
  }
  const { text, headers } = JSON.parse(deps.sealer.open(placeOfAnswer(callerId, key), stored.body)) as {
    text: string | null
    headers: Record<string, string>
  }
  return { status: stored.status, text, headers: { ...headers, 'idempotency-replayed': 'true' } }
}
