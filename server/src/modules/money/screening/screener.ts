import { Ajv, type ValidateFunction } from 'ajv'
import { type Static, Type } from 'typebox'
import { type Dispatcher, request } from 'undici'
import type { Config } from '../../../config/config.ts'
import type { Deps } from '../../../deps.ts'
import { screeningAnswerBytesMax, screeningCallTimeoutMilliseconds, screeningScoreMax } from '../../../lib/limits.ts'
import { parseStrictJson } from '../../../lib/strict-json.ts'
import { isSignedBy, readSignature, signatureHeaders } from '../../../lib/webhook-signature.ts'
import { dispatcherTo } from '../../../outbound/guarded-connect.ts'
import { AnswerTooLongError, readWithin } from '../../../outbound/read-within.ts'

export const verdicts = ['allow', 'hold', 'block'] as const
export type Verdict = (typeof verdicts)[number]

/** A question to the screening service (docs/screening.md). It is the same at every attempt under the same id. */
export type Question = {
  id: string
  /** `order` is a payment before its order is placed; only the score of its answer counts. */
  subject: { type: 'deposit' | 'transfer' | 'order'; id: string | null }
  vaultId: string
  network: string
  asset: string
  /** The contract of the token; null for the coin of the network. */
  contractAddress: string | null
  /** The amount in the smallest unit, and in units of the token. */
  amount: string
  amountDecimal: string
  usdValue: string | null
  /** The sender; null when the sender of a deposit is unknown. */
  fromAddress: string | null
  toAddress: string
  txHash: string | null
}

const Answer = Type.Object({
  id: Type.String(),
  verdict: Type.Union([Type.Literal('allow'), Type.Literal('hold'), Type.Literal('block')]),
  score: Type.Integer({ minimum: 0, maximum: screeningScoreMax }),
  reference: Type.String({ pattern: '^[\\x21-\\x7e]([\\x20-\\x7e]{0,126}[\\x21-\\x7e])?$' }),
})
export type ScreeningAnswer = Omit<Static<typeof Answer>, 'id'>

type ScreeningFailure = 'silent' | 'failed' | 'invalid'

/** Thrown when no answer counts; its message is for the log. */
export class ScreeningError extends Error {
  readonly kind: ScreeningFailure
  constructor(kind: ScreeningFailure, message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'ScreeningError'
    this.kind = kind
  }
}

export type Screener = { ask(question: Question, deadline?: AbortSignal): Promise<ScreeningAnswer> }

type Settings = NonNullable<Config['screening']>
type Options = { clock: () => Date; timeoutMilliseconds?: number }

/**
 * Creates the client of the screening service. Both directions are signed, redirects are not followed, and answers are bounded
 * in time and size. A reply that is not exactly an answer to this question throws ScreeningError.
 */
export function createScreener(
  { url, secrets }: Settings,
  { clock, timeoutMilliseconds = screeningCallTimeoutMilliseconds }: Options,
): Screener {
  const dispatcher = dispatcherTo(url, screeningCallTimeoutMilliseconds / 2)
  return {
    async ask(question, deadline) {
      const body = JSON.stringify(question)
      const ownLimit = AbortSignal.timeout(timeoutMilliseconds)
      const signal = deadline === undefined ? ownLimit : AbortSignal.any([deadline, ownLimit])
      const reply = await exchange({ url, dispatcher, signal }, body, {
        'content-type': 'application/json',
        accept: 'application/json',
        ...signatureHeaders(secrets, question.id, body, clock()),
      })
      return readAnswer(reply, { id: question.id, secrets, now: clock() })
    },
  }
}

/** Returns the client of the screening service in the settings; null when screening is off. */
export function screenerOf({ config, clock }: Pick<Deps, 'config' | 'clock'>): Screener | null {
  return config.screening === null ? null : createScreener(config.screening, { clock })
}

type Reply = { headers: Record<string, string | string[] | undefined>; body: Buffer }
type Target = { url: string; dispatcher: Dispatcher; signal: AbortSignal }

async function exchange(
  { url, dispatcher, signal }: Target,
  body: string,
  headers: Record<string, string>,
): Promise<Reply> {
  try {
    const response = await request(url, { method: 'POST', dispatcher, signal, headers, body })
    const answer = await readWithin(response.body, screeningAnswerBytesMax)
    if (response.statusCode !== 200) throw new ScreeningError('failed', `Answered ${response.statusCode}`)
    return { headers: response.headers, body: answer }
  } catch (error) {
    if (error instanceof ScreeningError) throw error
    if (error instanceof AnswerTooLongError) throw new ScreeningError('invalid', error.message)
    const message = error instanceof Error ? error.message : String(error)
    throw new ScreeningError(signal.aborted ? 'silent' : 'failed', `No answer: ${message}`, error)
  }
}

type Expected = { id: string; secrets: string[]; now: Date }

/** Reads an answer. @throws ScreeningError unless it is a signed answer to this very question */
function readAnswer({ headers, body }: Reply, { id, secrets, now }: Expected): ScreeningAnswer {
  if (!isSigned(headers, body, { id, secrets, now })) throw new ScreeningError('invalid', 'The answer is not signed')
  const answer = parse(body)
  check ??= new Ajv({ strict: false }).compile(Answer)
  if (!check(answer)) throw new ScreeningError('invalid', 'The answer does not follow the protocol')
  const { id: answered, verdict, score, reference } = answer as Static<typeof Answer>
  if (answered !== id) throw new ScreeningError('invalid', 'The answer is to another question')
  return { verdict, score, reference }
}

/** The check is compiled at the first answer, because most installations have no screening. */
let check: ValidateFunction | undefined

function isSigned(headers: Reply['headers'], body: Buffer, { id, secrets, now }: Expected): boolean {
  try {
    const signed = readSignature(headers, body, now)
    return signed.id === id && isSignedBy(signed, secrets)
  } catch {
    return false
  }
}

function parse(body: Buffer): unknown {
  try {
    return parseStrictJson(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    return undefined
  }
}
