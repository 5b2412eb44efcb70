import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { newSecret } from '../lib/secrets.ts'
import { signatureHeaders } from '../lib/webhook-signature.ts'
import { createScreener, type Question, type Screener, type Verdict } from '../modules/money/screening/screener.ts'

export const honest = (verdict: Verdict, score = 5) => ({ verdict, score, reference: `case-${verdict}` })

/** Ways in which a screener fails to answer. */
export const silences = [
  'hangs',
  'hangs in the body',
  'hangs up',
  'fails',
  'redirects',
  'is empty',
  'no JSON',
  'too long',
  'unsigned',
  'signed by another',
  'signed long ago',
  'signed for another question',
  'about another question',
  'an unknown verdict',
  'no score',
  'a score too high',
  'a score below zero',
  'a broken score',
  'no reference',
  'an invisible reference',
] as const
type Silence = (typeof silences)[number]
export type Behaviour = ReturnType<typeof honest> | Silence

export type FakeScreener = {
  /** The settings of a service that uses this screener. */
  env: { SCREENING_URL: string; SCREENING_SECRET: string }
  /** The received questions, in the order of arrival. */
  questions: Question[]
  behave: (question: Question) => Behaviour
  /** Returns a client of this service that waits only for milliseconds. */
  impatient(clock: () => Date, timeoutMilliseconds?: number): Screener
  close(): Promise<void>
}

/** Starts a screening service on loopback that answers as a test says, in time or late. It takes the time from the question. */
export async function startFakeScreener(): Promise<FakeScreener> {
  const secret = newSecret()
  const server = createServer((request, response) => void handle(request, response))
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const question = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Question
    screener.questions.push(question)
    const askedAt = new Date(Number(request.headers['webhook-timestamp']) * 1000)
    answer(response, question, screener.behave(question), { secret, askedAt })
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/screen`
  const screener: FakeScreener = {
    env: { SCREENING_URL: url, SCREENING_SECRET: secret },
    questions: [],
    behave: () => honest('allow'),
    impatient: (clock, timeoutMilliseconds = 250) =>
      createScreener({ url, secrets: [secret] }, { clock, timeoutMilliseconds }),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
  return screener
}

type Signing = { secret: string; askedAt: Date }

function answer(response: ServerResponse, { id }: Question, behaviour: Behaviour, { secret, askedAt }: Signing): void {
  const send = (body: string, signedFor = id, by = secret, at = askedAt) =>
    void response
      .writeHead(200, { 'content-type': 'application/json', ...signatureHeaders([by], signedFor, body, at) })
      .end(body)
  const good = { id, ...honest('allow') }
  const say = (changes: object) => send(JSON.stringify({ ...good, ...changes }))
  const text = JSON.stringify(good)
  const answers: Record<Silence, () => void> = {
    hangs: () => {},
    'hangs in the body': () =>
      void response.writeHead(200, signatureHeaders([secret], id, text, askedAt)).write(text.slice(0, 10)),
    'hangs up': () => void response.destroy(),
    fails: () => void response.writeHead(503).end(text),
    redirects: () => void response.writeHead(307, { location: '/elsewhere' }).end(),
    'is empty': () => send(''),
    'no JSON': () => send('allow'),
    'too long': () => say({ more: 'x'.repeat(20_000) }),
    unsigned: () => void response.writeHead(200).end(text),
    'signed by another': () => send(text, id, newSecret()),
    'signed long ago': () => send(text, id, secret, new Date(askedAt.getTime() - 301_000)),
    'signed for another question': () => send(text, `${id}x`),
    'about another question': () => say({ id: `${id}x` }),
    'an unknown verdict': () => say({ verdict: 'allowed' }),
    'no score': () => say({ score: undefined }),
    'a score too high': () => say({ score: 101 }),
    'a score below zero': () => say({ score: -1 }),
    'a broken score': () => say({ score: 1.5 }),
    'no reference': () => say({ reference: '' }),
    'an invisible reference': () => say({ reference: 'a\u200bb' }),
  }
  if (typeof behaviour === 'string') answers[behaviour]()
  else say(behaviour)
}
