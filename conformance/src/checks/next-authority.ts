import { expectAnswer, expectStatus, expectThat } from '../answers.ts'
import type { Category } from '../check.ts'
import type { Answer } from '../http-exchange.ts'
import { Blocked } from '../outcomes.ts'
import { expectCode, hashOf, type Key, keysOf, Shown, shownAuthority, voteOf } from '../signed-orders.ts'
import type { WalletUnderTest } from '../wallet-under-test.ts'

const section = 'signed-orders' as const
const needs: Category['checks'][number]['needs'] = ['evm', 'protected', 'authorityKeys']
const hourMilliseconds = 3_600_000
/** By how much the clocks of kit and wallet service may differ. */
const skewMilliseconds = 600_000

/** The version of an authority that waits. Optional; each check cancels the version that it has put, which changes nothing. */
export const nextAuthority: Category = {
  name: 'next-authority',
  title: 'The next authority (optional; each version that is put is cancelled)',
  checks: [
    {
      id: 'next-authority.waits',
      title: 'A next version that enough people signed waits as pending, and another one meanwhile is a 409',
      section,
      rule: 'It waits for the `delayHours` of the version in force; another one meanwhile is a 409 (`VERSION_PENDING`).',
      advice: 'Keep the version with the time from which it is in force, and go on with the one before until then.',
      needs,
      run: (wallet) =>
        withPending(wallet, async ({ before, hash, put, answers }) => {
          const due = Date.now() + (before.authority.delayHours ?? 0) * hourMilliseconds
          const shown = await wallet.call('GET', '/authority', { client: 'protected' })
          for (const answer of [answers.put, await put(), shown]) {
            const said = expectAnswer(answer, 200, Shown)
            expectThat(said.hash === before.hash, 'another version is in force at once', answer)
            expectThat(said.pending?.hash === hash, 'pending is not the version that was put', answer)
            const isLate = Math.abs(Date.parse(said.pending.inForceAt) - due) <= skewMilliseconds
            expectThat(isLate, `inForceAt is ${said.pending.inForceAt}, not delayHours from now`, answer)
          }
          const { address } = await wallet.addressOf('another listed address', 'protected')
          expectCode(await put(address), 409, 'VERSION_PENDING', 'another version')
        }),
    },
    {
      id: 'next-authority.signed-by',
      title: 'The version that waits names each person who signed it once, and nobody else',
      section,
      rule: 'the people who signed it (`signedBy`)',
      advice: 'Keep the persons of the votes that put the version, and show them to those who may cancel it.',
      needs,
      run: (wallet) =>
        withPending(wallet, async ({ persons, answers }) => {
          const shown = await wallet.call('GET', '/authority', { client: 'protected' })
          for (const answer of [answers.put, shown]) {
            const signedBy = expectAnswer(answer, 200, Shown).pending?.signedBy
            expectThat(signedBy !== undefined, 'pending has no signedBy', answer)
            const isSame = signedBy.toSorted().join() === persons.toSorted().join()
            expectThat(isSame, `signedBy is ${signedBy.join(', ')}; the votes are of ${persons.join(', ')}`, answer)
          }
        }),
    },
    {
      id: 'next-authority.too-few',
      title: 'A cancellation by too few people, or by votes that reject nothing, is a 403 VOTES_MISSING',
      section,
      rule: '403 with a code for too few',
      advice:
        'Count persons of the group that signs versions, by their votes reject on the hash of the one that waits.',
      needs,
      run: (wallet) =>
        withPending(wallet, async ({ hash, rejections, approvals, cancel }) => {
          const [first, ...others] = rejections
          const fewer = others.length === 0 ? [] : Array(rejections.length).fill(first)
          expectCode(await cancel(fewer), 403, 'VOTES_MISSING', 'one vote too few, often')
          expectCode(await cancel(approvals), 403, 'VOTES_MISSING', 'approvals')
          const shown = await wallet.call('GET', '/authority', { client: 'protected' })
          expectThat(expectAnswer(shown, 200, Shown).pending?.hash === hash, 'the version waits no more', shown)
        }),
    },
    {
      id: 'next-authority.cancelled',
      title: 'One person fewer than signed a version cancels it, also again, and it is never taken again',
      section,
      rule: 'cancels the version that waits, with votes `reject` on its hash by one person fewer than sign a version',
      advice: 'Keep the hashes of cancelled versions, and refuse each with VERSION_CANCELLED.',
      needs,
      run: (wallet) =>
        withPending(wallet, async ({ before, rejections, put, cancel }) => {
          for (const time of ['the first time', 'the second time']) {
            const answer = await cancel(rejections)
            const said = expectAnswer(answer, 200, Shown)
            expectThat(said.pending === null && said.hash === before.hash, `${time}: a version still waits`, answer)
          }
          expectCode(await put(), 403, 'VERSION_CANCELLED', 'the cancelled version')
        }),
    },
  ],
}

type Waiting = {
  before: Shown
  /** Of the version that waits. */
  hash: string
  /** The people who signed the version. */
  persons: string[]
  /** Puts it again, or another one that lists this address. */
  put(address?: string): Promise<Answer>
  cancel(votes: unknown[]): Promise<Answer>
  /** As many as cancel it, each by another person; and as many that say the opposite. */
  rejections: unknown[]
  approvals: unknown[]
  answers: { put: Answer }
}

/** Has the keys of the kit sign a next version, and cancels it when the check has ended, however it did. */
async function withPending(wallet: WalletUnderTest, use: (waiting: Waiting) => Promise<void>): Promise<void> {
  const { shown: before, answer } = await shownAuthority(wallet)
  const keys = changersOf(wallet, before)
  const { network } = wallet.options
  const document = (answer.json as { authority: object }).authority
  const nextWith = (address: string) => ({
    ...{ ...document, version: before.version + 1, previous: before.hash },
    addresses: [...before.authority.addresses, { network, address }],
  })
  const votesOn = (hash: string, decision: 'initiate' | 'approve' | 'reject') =>
    keys.map((key) => voteOf(key, { subject: 'authority', hash, authority: before.hash, decision }))
  // A version that was cancelled is never taken again, so each check lists an address of its own.
  const listed = await wallet.addressOf(wallet.nextId(), 'protected')
  const put = (address = listed.address) => {
    const next = nextWith(address)
    const body = { authority: next, votes: votesOn(hashOf(next), 'initiate') }
    return wallet.call('POST', '/authority', { body, client: 'protected' })
  }
  const cancel = (votes: unknown[]) =>
    wallet.call('POST', '/authority/cancel', { body: { votes }, client: 'protected' })
  const hash = hashOf(nextWith(listed.address))
  const count = Math.max(1, before.authority.change.votes - 1)
  const [rejections, approvals] = [votesOn(hash, 'reject').slice(0, count), votesOn(hash, 'approve').slice(0, count)]
  try {
    const answers = { put: await put() }
    expectStatus(answers.put, 200, 'the next version')
    const persons = keys.map(({ person }) => person)
    await use({ before, hash, persons, put, cancel, rejections, approvals, answers })
  } finally {
    await cancel(rejections)
  }
}

/** One key of each person who signs the next version. @throws Blocked where they cannot, or nothing would wait */
function changersOf(wallet: WalletUnderTest, shown: Shown): Key[] {
  const { change, groups, delayHours } = shown.authority
  if (delayHours === undefined || delayHours === 0) throw new Blocked('The authority has no delayHours')
  if (shown.pending != null) throw new Blocked('A version of the authority already waits')
  const persons = groups.find(({ id }) => id === change.group)?.persons ?? []
  const keys = keysOf(wallet, shown)
  const changers = persons.flatMap((person) => keys.find((key) => key.person === person) ?? [])
  if (changers.length < change.votes)
    throw new Blocked('The keys of --authority-keys are not enough for a next version')
  return changers.slice(0, change.votes)
}
