import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { inTransaction } from '../db/transaction.ts'
import { sendNotifications } from '../jobs/send-notifications.ts'
import { createSignInLink } from '../modules/people/sign-in/actions.ts'
import type { Person } from '../testing/app.ts'
import { addMember } from '../testing/fixtures.ts'
import { createOutbox, type Outbox, type ReceivedMail } from '../testing/outbox.ts'
import { createTransferBench, type TransferBench } from '../testing/transfer-bench.ts'

let bench: TransferBench
let outbox: Outbox
let stranger: Person
let member: Person

beforeAll(async () => {
  outbox = await createOutbox()
  bench = await createTransferBench({ DATA_DIR: outbox.dataDir, CONSOLE: 'on' })
  stranger = await bench.test.signIn('stranger@example.org')
  member = await addMember(bench.test, bench.vault, 'member@example.org')
  await bench.policy({
    code: 'counterparties',
    actionType: 'counterparty_create',
    effect: 'requireApproval',
    approvalThreshold: 1,
    approvers: [{ kind: 'group', groupId: bench.approversId }],
  })
})
afterAll(async () => {
  await bench.close()
  await outbox.remove()
})
beforeEach(async () => {
  await mailsTo(bench.owner)
  await outbox.clear()
})

/** Opens a link of a mail, or a path, with the browser session of a person. */
function open(url: string, by: Person | null) {
  const { pathname, search } = new URL(url, 'http://localhost:8420')
  const browser = by === null ? bench.test.anonymous : bench.test.client({ cookie: `session_token=${by.token}` })
  return browser.get(`/${pathname}${search}`)
}

async function mailsTo({ email }: Person): Promise<ReceivedMail[]> {
  bench.test.clock.advance(61_000)
  await bench.test.sendMails()
  await sendNotifications(bench.test.deps)
  return (await outbox.read()).filter(({ to }) => to === email)
}

const linksIn = ({ text }: ReceivedMail) => text.match(/https?:\/\/\S+\/(?:v|me|changes)\/\S+/g) ?? []

describe('the mail that asks for a vote', () => {
  it('leads to the transfer, by way of the sign-in', async () => {
    const address = await bench.fundedAddress()
    const metadata = { paymentPurpose: 'Invoice <4711>' }
    const { id } = (await bench.order(address.id, '500', { metadata })).body
    const [mail, ...more] = await mailsTo(bench.firstApprover)
    expect(more).toEqual([])
    const [link] = linksIn(mail!)
    expect(link).toBe(`http://localhost:8420/v/main-vault/approvals/transfer/${id}`)
    expect(mail!.html).toContain(`<a href="${link}"`)

    const signedOut = await open(link!, null)
    expect(signedOut.status).toBe(302)
    const signIn = `/sign-in?redirectTo=${encodeURIComponent(new URL(link!).pathname)}` as const
    expect(signedOut.headers.location).toBe(signIn)
    expect((await open(signIn, null)).body).toContain(`data-redirect="${new URL(link!).pathname}"`)

    await bench.act(bench.owner, id, 'cancel')
  })

  it('leads to the payout; one mail for all of its rows', async () => {
    const address = await bench.fundedAddress()
    const rows = ['200', '50'].map((amount, i) => ({
      externalId: `salary <${i}>`,
      fromAddressId: address.id,
      toAddress: bench.recipient,
      amount,
    }))
    const { id } = (await bench.owner.post('/vaults/main-vault/payouts', { name: 'Salaries', rows })).body
    const [mail, ...more] = await mailsTo(bench.firstApprover)
    expect(more).toEqual([])
    expect(mail!.subject).toBe('Your vote is needed in Main vault: payout of 2 transfers')
    const [link] = linksIn(mail!)
    expect(link).toBe(`http://localhost:8420/v/main-vault/approvals/payout/${id}`)
    expect((await open(link!, bench.firstApprover)).body).toContain('<div id="console">')
    await bench.owner.post(`/vaults/main-vault/payouts/${id}/cancel`)
    // The initiator cancelled the payout, and gets no mail about it or about its rows.
    expect(await mailsTo(bench.owner)).toEqual([])
  })

  it('leads to the approval request', async () => {
    const requested = await bench.owner.post('/vaults/main-vault/counterparties', {
      name: 'Supplier <b>',
      kind: 'company',
    })
    expect(requested.status).toBe(202)
    const [mail] = await mailsTo(bench.firstApprover)
    const [link] = linksIn(mail!)
    expect(link).toBe(`http://localhost:8420/v/main-vault/approvals/request/${requested.body.request.id}`)
    expect((await open(link!, bench.firstApprover)).body).toContain('<div id="console">')
    expect(
      (await bench.owner.post(`/vaults/main-vault/approval-requests/${requested.body.request.id}/cancel`)).status,
    ).toBe(200)
  })
})

describe('the mails about changes', () => {
  it('lead to each change, as it was announced to this person', async () => {
    for (const code of ['one', 'two']) await bench.policy({ code, effect: 'allow' })
    const [mail] = await mailsTo(bench.vault.admin)
    const links = [...new Set(linksIn(mail!))]
    expect(links).toHaveLength(2)
    for (const [index, code] of ['one', 'two'].entries()) {
      expect(links[index]).toMatch(/\/changes\/main-vault\/c[0-9a-z]{24}$/)
      const page = await open(links[index]!, bench.vault.admin)
      expect(page.status).toBe(200)
      expect(page.body).toContain(`The policy &quot;${code}&quot; was created.`)
      // It was not announced to them.
      for (const person of [stranger, member]) expect((await open(links[index]!, person)).status).toBe(404)
    }
  })

  it('lead to a change of the platform', async () => {
    const operator = await bench.test.signIn('operator@example.org', { isPlatformAdmin: true })
    const { items } = (await operator.get('/tokens')).body
    expect((await operator.patch(`/tokens/${items[0]!.id}`, { name: 'Another name' })).status).toBe(200)
    const mail = (await mailsTo(operator)).find(({ subject }) => subject === 'Changes to the Strongroom platform')
    const [link] = linksIn(mail!)
    expect(link).toMatch(/\/changes\/c[0-9a-z]{24}$/)
    expect((await open(link!, operator)).body).toContain('Another name')
    expect((await open(link!, stranger)).status).toBe(404)
  })

  it('about a sign-in link of an operator lead to the sessions', async () => {
    const { test } = bench
    await inTransaction(test.deps.db, (trx) => createSignInLink(trx, test.deps, member.email, test.clock.now()))
    const [mail] = await mailsTo(member)
    const [link] = linksIn(mail!)
    expect((await open(link!, null)).headers.location).toBe('/sign-in?redirectTo=%2Fme%2Fsessions')
    expect((await open(link!, member)).body).toContain('<div id="console">')
  })
})

describe('hidden resources', () => {
  it('T39 looks like a resource that does not exist, also without a session', async () => {
    const [mail] = await mailsTo(bench.vault.admin)
    expect(mail).toBeUndefined()
    await bench.policy({ code: 'three', effect: 'allow' })
    const [announced] = await mailsTo(bench.vault.admin)
    const { pathname } = new URL(linksIn(announced!)[0]!)
    const absent = '/changes/main-vault/cmi8h2k1p0a1b2c3d4e5f6g7h'
    for (const person of [stranger, member]) {
      const [hidden, missing] = [await open(pathname, person), await open(absent, person)]
      expect([hidden.status, missing.status]).toEqual([404, 404])
      expect(hidden.body).toBe(missing.body)
    }
    for (const path of [pathname, absent]) {
      const answer = await open(path, null)
      expect([answer.status, answer.body]).toEqual([302, ''])
    }
    expect((await open(pathname, bench.vault.admin)).status).toBe(200)
  })

  it('T45 leads to the sign-in with a path of this origin only', async () => {
    for (const code of ['%2F%2Fevil.example.org', '..%2F..', '%22%3E', 'a%0d%0ab']) {
      for (const path of [`/changes/${code}/x?next=//evil.example.org`, `/v/${code}/send?next=//evil.example.org`]) {
        const { location } = (await open(path, null)).headers
        const target = new URL(String(location), 'http://localhost:8420')
        expect(target.origin + target.pathname).toBe('http://localhost:8420/sign-in')
        expect(target.searchParams.get('redirectTo')).toMatch(/^\/(changes|v)\//)
      }
    }
  })
})
