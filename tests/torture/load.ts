import { setTimeout as sleep } from 'node:timers/promises'
import type { Transfer, WebhookAnswer } from '../../server/src/testing/answer.ts'
import { fakeAddress, fakeTxHash } from '../../server/src/testing/fake-wallet.ts'
import type { Random } from '../../server/src/testing/random.ts'
import { freeAmountMax, type Person, type World } from './world.ts'

const repeatClients = 8
const repeatMilliseconds = 100
const answerMillisecondsMax = 90_000
const coin = 10n ** 18n
const funding = 1_000_000n

/** The numbers of clients that deposit and order at the same time. Without depositors the load funds no address. */
type Crowd = { depositors: number; initiators: number; pauseMilliseconds(): number }
const manyDepositors: Crowd = { depositors: 16, initiators: 4, pauseMilliseconds: () => 100 }

type Decision = 'approve' | 'reject'

/** The deposits, transfers and votes for which clients received a 2xx answer. */
export type Acknowledged = {
  /** By transaction hash. */
  deposits: Map<string, { id: string; amount: bigint }>
  /** By recipient: each transfer has its own, so that it can be found in the wallet's log. */
  transfers: Map<string, { id: string; amount: bigint; isVetoed: boolean }>
  /** By transfer and voter. */
  votes: Map<string, Decision>
}

export type Load = {
  acknowledged: Acknowledged
  /** Lets the clients begin one story after the other. */
  begin(): void
  /** Waits until every story has come to its end, which no story does while a request of it is unanswered. */
  end(): Promise<void>
  /** Repeats every request that was answered since `begin`: the answers must be the same. */
  askAgain(): Promise<number>
  /** Returns the number of requests without an answer, or with an inconclusive one, since `begin`. */
  unanswered(): number
  /** @throws when a client received a wrong answer */
  assertNoFault(): void
  /** Ends all clients at once, answered or not. */
  abandon(): void
}

/** An event of the wallet service, a transfer, or a vote on one. */
type Body = Required<Pick<WebhookAnswer, 'outcome' | 'depositId'>> & Pick<Transfer, 'id' | 'status'>
export type Reply = { status: number; text: string; body: Body }
type Question = { path: string; body: object; headers?: Record<string, string> }
type Answer = Reply & { attempts: number }
/** Is told of each answer of a node, whatever it says. */
export type Observe = (reply: Reply, milliseconds: number, question: Question) => void

/**
 * Clients that deposit, order transfers and vote. As the documentation requires, they repeat a request that was not
 * answered, with the same idempotency key or as the same event, until it is answered.
 */
export async function createLoad(
  world: World,
  nodeUrl: () => string | null,
  random: Random,
  crowd: Crowd = manyDepositors,
  observe: Observe = () => {},
): Promise<Load> {
  const acknowledged: Acknowledged = { deposits: new Map(), transfers: new Map(), votes: new Map() }
  let answered: { question: Question; reply: Reply }[] = []
  let faults: unknown[] = []
  let isOver = false
  let isAbandoned = false
  let clients: Promise<void>[] = []
  let unanswered = 0
  let stories = 0

  const anyAddress = () => world.addresses[random.below(world.addresses.length)]!

  const ask = async (question: Question): Promise<Answer> => {
    const deadline = Date.now() + answerMillisecondsMax
    for (let attempts = 1; ; ) {
      const url = nodeUrl()
      const askedAt = performance.now()
      const reply = url === null ? null : await send(url, question).catch(() => null)
      if (reply !== null) observe(reply, performance.now() - askedAt, question)
      if (reply !== null && saysWhatHappened(reply)) return { ...reply, attempts }
      if (isAbandoned) throw new Error('Nobody waits for the answer any more')
      if (url !== null) {
        attempts += 1
        unanswered += 1
      }
      if (Date.now() > deadline) throw new Error(`No answer in time: ${describe(question, reply)}`)
      await sleep(repeatMilliseconds)
    }
  }

  const expectAnswer = async (question: Question, status: number): Promise<Answer> => {
    const answer = await ask(question)
    if (answer.status !== status) throw new Error(`Expected ${status}: ${describe(question, answer)}`)
    answered.push({ question, reply: answer })
    return answer
  }

  const deposit = async (amount: bigint, toAddress: string) => {
    stories += 1
    const txHash = fakeTxHash(`deposit ${stories}`)
    const tx = { network: 'ethereum', asset: null, amount: `${amount}`, toAddress, txHash }
    const question = { path: '/webhooks/wallet', body: { kind: 'TOPUP', tx } }
    // A wallet service may send the same event twice at the same moment.
    const times = random.below(8) === 0 ? 2 : 1
    for (const answer of await Promise.all(Array.from({ length: times }, () => expectAnswer(question, 200)))) {
      const { outcome, depositId } = answer.body
      const known = acknowledged.deposits.get(txHash)
      const mayBeKnown = answer.attempts > 1 || times > 1
      if (outcome !== 'credited' && !(outcome === 'duplicate' && mayBeKnown)) {
        throw new Error(`A new deposit is ${outcome}: ${describe(question, answer)}`)
      }
      if (known !== undefined && known.id !== depositId) {
        throw new Error(`A deposit was credited twice: ${describe(question, answer)}, ${known.id} before`)
      }
      acknowledged.deposits.set(txHash, { id: depositId, amount: amount * coin })
    }
  }

  const vote = async (by: Person, transferId: string, decision: Decision, becomes: string) => {
    const path = `/api/v1/vaults/${world.vault}/transfers/${transferId}/${decision}` as const
    const question = { path, body: {}, headers: headersOf(by, `${decision}-${transferId}`) }
    const answer = await expectAnswer(question, 200)
    if (answer.body.status !== becomes) throw new Error(`Expected ${becomes}: ${describe(question, answer)}`)
    acknowledged.votes.set(`${transferId} ${by.id}`, decision)
  }

  const transfer = async () => {
    stories += 1
    const toAddress = fakeAddress(`recipient ${stories}`)
    const [first, second] = random.shuffle(world.approvers) as [Person, Person]
    const needsVotes = random.below(2) === 0
    const amount = BigInt(1 + random.below(freeAmountMax) + (needsVotes ? freeAmountMax : 0))
    const isVetoed = needsVotes && random.below(3) === 0
    const question = {
      path: `/api/v1/vaults/${world.vault}/transfers`,
      body: {
        fromAddressId: anyAddress().id,
        toAddress,
        amount: `${amount}`,
      },
      headers: headersOf(world.owner, `order-${stories}`),
    }
    const { id, status } = (await expectAnswer(question, 201)).body
    if (status !== (needsVotes ? 'awaiting_approval' : 'pending')) throw new Error(`A new transfer is ${status}`)
    acknowledged.transfers.set(toAddress, { id, amount: amount * coin, isVetoed })
    if (!needsVotes) return
    if (!isVetoed || random.below(2) === 0) await vote(first, id, 'approve', 'awaiting_approval')
    await (isVetoed ? vote(second, id, 'reject', 'rejected') : vote(second, id, 'approve', 'pending'))
  }

  const client = async (story: () => Promise<void>, pauseMilliseconds: () => number) => {
    try {
      while (!isOver) {
        await story()
        await sleep(random.below(pauseMilliseconds()))
      }
    } catch (error) {
      faults.push(error)
    }
  }

  const assertNoFault = () => {
    if (faults.length > 0) throw faults[0]
  }
  if (crowd.depositors > 0) for (const { address } of world.addresses) await deposit(funding, address)
  return {
    acknowledged,
    begin() {
      isOver = false
      answered = []
      unanswered = 0
      faults = []
      clients = [
        ...Array.from({ length: crowd.depositors }, () =>
          client(
            () => deposit(BigInt(1 + random.below(9)), anyAddress().address),
            () => 40,
          ),
        ),
        ...Array.from({ length: crowd.initiators }, () => client(transfer, crowd.pauseMilliseconds)),
      ]
    },
    async end() {
      isOver = true
      await Promise.all(clients)
      assertNoFault()
    },
    async askAgain() {
      const left = [...answered]
      const repeat = async () => {
        for (let next = left.pop(); next !== undefined; next = left.pop()) {
          const again = await ask(next.question)
          const isSame =
            next.question.headers === undefined
              ? again.status === 200 &&
                again.body.outcome === 'duplicate' &&
                again.body.depositId === next.reply.body.depositId
              : again.status === next.reply.status && again.text === next.reply.text
          if (!isSame) throw new Error(`Another answer than ${next.reply.text}: ${describe(next.question, again)}`)
        }
      }
      await Promise.all(Array.from({ length: repeatClients }, repeat))
      return answered.length
    },
    unanswered: () => unanswered,
    assertNoFault,
    abandon() {
      isOver = isAbandoned = true
    },
  }
}

function headersOf(person: Person, key: string): Record<string, string> {
  return { authorization: `Bearer ${person.token}`, 'idempotency-key': key }
}

async function send(nodeUrl: string, { path, body, headers = {} }: Question): Promise<Reply> {
  const response = await fetch(nodeUrl + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  // A proxy answers in a form of its own when it reaches no node.
  return { status: response.status, text, body: text.startsWith('{') ? JSON.parse(text) : {} }
}

/** A 5xx leaves the outcome open, and so does the answer that the first attempt is still running. */
function saysWhatHappened({ status, text }: Reply): boolean {
  return status < 500 && !(status === 409 && text.includes('is still running'))
}

function describe({ path, body }: Question, reply: Reply | null): string {
  return `POST ${path} ${JSON.stringify(body)} was answered ${reply === null ? 'not at all' : `${reply.status} ${reply.text}`}`
}
