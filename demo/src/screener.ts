import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { pathToFileURL } from 'node:url'

/**
 * A reference screening service (docs/screening.md). It blocks and holds payments with the addresses on two lists, and
 * allows all others. Both messages are signed by the Standard Webhooks scheme. The same question always gets the same
 * answer.
 */
export type Lists = { secret: string; blocked: string[]; held: string[] }

type Question = { id: string; subject: { type: string }; fromAddress: string | null; toAddress: string }

export function createScreener({ secret, blocked, held }: Lists): Server {
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : Buffer.from(secret)
  const sign = (id: string, timestamp: string, body: string | Buffer) =>
    `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`

  const isGenuine = ({ headers }: IncomingMessage, body: Buffer): boolean => {
    const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers
    if (Math.abs(Date.now() / 1000 - Number(timestamp)) > 300) return false
    const expected = Buffer.from(sign(String(id), String(timestamp), body))
    return String(signatures)
      .split(' ')
      .map((text) => Buffer.from(text))
      .some((signature) => signature.length === expected.length && timingSafeEqual(signature, expected))
  }

  const judge = ({ subject, fromAddress, toAddress }: Question): { verdict: string; score: number } => {
    // The address outside of the vault: the sender of a deposit, or the recipient of a payment.
    const other = (subject.type === 'deposit' ? fromAddress : toAddress)?.toLowerCase() ?? null
    const isOn = (list: string[]) => other !== null && list.some((address) => address.toLowerCase() === other)
    if (isOn(blocked)) return { verdict: 'block', score: 100 }
    if (isOn(held) || other === null) return { verdict: 'hold', score: 60 }
    return { verdict: 'allow', score: 5 }
  }

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    if (request.method !== 'POST' || !isGenuine(request, body)) return void response.writeHead(401).end()
    const question = JSON.parse(body.toString('utf8')) as Question
    const reference = `ref-${createHash('sha256').update(body).digest('hex').slice(0, 16)}`
    const text = JSON.stringify({ id: question.id, ...judge(question), reference })
    const timestamp = String(Math.floor(Date.now() / 1000))
    response
      .writeHead(200, {
        'content-type': 'application/json',
        'webhook-id': question.id,
        'webhook-timestamp': timestamp,
        'webhook-signature': sign(question.id, timestamp, text),
      })
      .end(text)
  }

  return createServer((request, response) => {
    answer(request, response).catch(() => response.writeHead(400).end())
  })
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { PORT = '8430', SCREENING_SECRET: secret = '', BLOCKED = '', HELD = '' } = process.env
  if (secret.length < 24) throw new Error('SCREENING_SECRET must be set, as for the service')
  createScreener({ secret, blocked: BLOCKED.split(','), held: HELD.split(',') }).listen(Number(PORT), '127.0.0.1')
}
