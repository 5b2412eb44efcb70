import { expect } from 'vitest'
import { inTransaction } from '../db/transaction.ts'
import { runDueScreenings } from '../jobs/run-screenings.ts'
import { askAnew } from '../modules/money/screening/queries.ts'
import type { Answer } from './answer.ts'
import type { Person } from './app.ts'
import { Authenticator } from './authenticator.ts'
import { fakeAddress } from './fake-wallet.ts'
import { addMember, allowAll } from './fixtures.ts'
import { recordPeople } from './record-people.ts'
import type { TransferBench } from './transfer-bench.ts'

const base = '/vaults/main-vault'

const must = async <Body>(answer: Promise<Answer<Body>>): Promise<Body> => {
  const { status, body } = await answer
  expect(status, JSON.stringify(body)).toBeLessThan(300)
  return body
}

/** Makes changes of every verified type, through the same requests as people. */
export async function operate(bench: TransferBench): Promise<void> {
  const { admin } = bench.vault
  const night = await must(admin.post(`${base}/policy-groups`, { code: 'night', name: 'Night' }))
  const gone = await must(admin.post(`${base}/policy-groups`, { code: 'gone', name: 'Gone' }))
  const member = { userId: bench.firstApprover.userId }
  await must(admin.post(`/policy-groups/${night.id}/members`, member))
  await must(admin.delete(`/policy-groups/${night.id}/members/${member.userId}`))
  await must(admin.post(`/policy-groups/${night.id}/members`, member))
  await must(admin.post(`/policy-groups/${gone.id}/members`, member))
  await must(admin.patch(`/policy-groups/${night.id}`, { code: 'late', name: 'Late' }))
  await must(admin.delete(`/policy-groups/${gone.id}`))
  const leaver = await addMember(bench.test, bench.vault, 'leaver@example.org', ['late', 'treasury'])
  await must(admin.delete(`${base}/members/${leaver.userId}`))
  await must(admin.post(`${base}/service-tokens`, { name: 'Robot', groupIds: [night.id] }))

  const policy = { code: 'night-small', name: 'Small', actionType: 'transfer', effect: 'allow' }
  const small = await must(admin.post(`/policy-groups/${night.id}/policies`, policy))
  const approvers = [{ kind: 'user', userId: member.userId }]
  await must(admin.patch(`/policies/${small.id}`, { effect: 'requireApproval', approvalThreshold: 1, approvers }))
  await must(admin.patch(`/policies/${small.id}`, { name: 'Small ones', enabled: false }))
  const other = await must(admin.post(`/policy-groups/${night.id}/policies`, { ...policy, code: 'night-other' }))
  await must(admin.delete(`/policies/${other.id}`))

  await must(admin.patch(base, { walletServiceSecret: 'another-secret-of-the-wallet', name: 'Main' }))
  await must(admin.patch(base, { walletServiceSecret: bench.vault.wallet.secret }))
  await operateRegistries(bench)
  await must(admin.put(`${base}/governance`, { threshold: 0, looseningDelayHours: 4, tighteningDelayHours: 0 }))
  await must(admin.put(`${base}/governance`, { threshold: 0, looseningDelayHours: 0, tighteningDelayHours: 0 }))

  const address = await bench.fundedAddress()
  const hold = { subjectType: 'address', subjectId: address.id, reason: 'Looks wrong' }
  const placed = await must(admin.post(`${base}/holds`, hold))
  const second = await addMember(bench.test, bench.vault, 'second.admin@example.org', ['administrators'])
  const release = await must(admin.post(`${base}/holds/${placed.id}/release`, { reason: 'Checked' }))
  await must(second.post(`${base}/approval-requests/${release.request.id}/approve`))
  const held = await bench.fundedAddress()
  await must(admin.post(`${base}/holds`, { ...hold, subjectId: held.id }))
  await must(admin.put(`${base}/governance`, { threshold: 1, looseningDelayHours: 0, tighteningDelayHours: 0 }))
  const changes = [
    { action: 'policy_group_create', payload: { code: 'shift', name: 'Shift' } },
    { action: 'policy_create', targetId: '$change:0', payload: { ...policy, code: 'shift-pay' } },
  ]
  const draft = await must(admin.post(`${base}/change-sets`, { title: 'Shift', changes }))
  const submitted = await must(admin.post(`${base}/change-sets/${draft.id}/submit`))
  await must(second.post(`${base}/approval-requests/${submitted.request.id}/approve`))
  const key = new Authenticator()
  const { creation } = await must(bench.owner.post('/users/me/passkeys/options', {}))
  await must(bench.owner.post('/users/me/passkeys', { name: 'Phone', credential: await key.register(creation) }))
  await must(bench.order(address.id, '10'))
  const large = await must(bench.order(address.id, '200'))
  await must(bench.act(bench.firstApprover, large.id, 'approve', { comment: 'Seen' }))
  await operatePayouts(bench, address.id)
  await operateBooks(bench, { second, addressId: address.id })
  await operatePlatform(bench)
  await recordPeople(bench.test.deps)
}

async function operatePayouts(bench: TransferBench, fromAddressId: string): Promise<void> {
  const rowsOf = (...amounts: string[]) =>
    amounts.map((amount, i) => ({
      externalId: `row-${i}-${amount}`,
      fromAddressId,
      toAddress: bench.recipient,
      amount,
    }))
  await must(bench.owner.post(`${base}/payouts`, { name: 'Salaries', rows: rowsOf('1', '2') }))
  const large = await must(bench.owner.post(`${base}/payouts`, { rows: rowsOf('120', '130') }))
  await must(bench.firstApprover.post(`${base}/payouts/${large.id}/approve`))
}

/** Makes an adjustment that two people agree on, and an answer of the screening. */
async function operateBooks(
  { vault, test }: TransferBench,
  { second, addressId }: { second: Person; addressId: string },
): Promise<void> {
  const adjustment = { addressId, tokenId: vault.tokens.usdt.id, amount: '5', reason: 'Found in a drawer' }
  const { request } = (await must(vault.admin.post(`${base}/adjustments`, adjustment))) as unknown as Waits
  await must(second.post(`${base}/approval-requests/${request.id}/approve`))
  const [deposit] = (await must(vault.admin.get(`${base}/deposits`))).items
  const subject = { vaultId: vault.id, subjectType: 'deposit', subjectId: deposit!.id } as const
  await inTransaction(test.deps.db, (trx) => askAnew(trx, subject, test.clock.now()))
  await runDueScreenings(test.deps, { ask: async () => ({ verdict: 'allow', score: 5, reference: 'case-1' }) })
}

type Waits = { request: { id: string } }

/** Sets rates by hand, which a second person confirms, and makes a change of a token on which two people agree. */
async function operatePlatform({ test, vault }: TransferBench): Promise<void> {
  const first = vault.admin
  const second = await test.signIn('second@platform.org', { isPlatformAdmin: true })
  const { id } = vault.tokens.usdt
  const rateOf = async (minutes: number, verb: 'confirm' | 'reject' | null) => {
    const asOf = new Date(test.clock.now().getTime() - minutes * 60_000).toISOString()
    const held = await must(first.post(`/tokens/${id}/rates`, { usdRate: `1.0${minutes}`, asOf, source: 'manual' }))
    if (verb !== null) await must(second.post(`/held-rates/${held.id}/${verb}`))
  }
  await rateOf(3, 'confirm')
  await rateOf(2, 'reject')
  await rateOf(1, null)
  for (const [symbol, verb] of [
    ['USDT0', 'confirm'],
    ['USDT1', 'reject'],
    ['USDT2', null],
  ] as const) {
    const held = (await must(first.patch(`/tokens/${id}`, { symbol }))) as unknown as { id: string }
    if (verb !== null) await must(second.post(`/platform-changes/${held.id}/${verb}`))
  }
}

/** Changes the address book, categories, tokens and people. */
async function operateRegistries(bench: TransferBench): Promise<void> {
  const { admin } = bench.vault
  for (const action of ['create', 'update', 'archive']) await allowAll(bench.vault, `counterparty_${action}`)
  const at = (name: string) => ({ network: 'ethereum', address: fakeAddress(name) })
  const createParty = (name: string) =>
    must(admin.post(`${base}/counterparties`, { name, kind: 'company', addresses: [at(name), at(`${name} 2`)] }))
  const party = (await createParty('Payee')) as { id: string; addresses: { id: string }[] }
  const archived = (await createParty('Former payee')) as { id: string }
  await must(
    admin.patch(`${base}/counterparties/${party.id}`, {
      name: 'Renamed',
      kind: 'exchange',
      addAddresses: [at('a third')],
      removeAddressIds: [party.addresses[0]!.id],
    }),
  )
  await must(admin.post(`${base}/counterparties/${archived.id}/archive`))
  const category = await must(admin.post(`${base}/operation-categories`, { key: 'salaries', name: 'Salaries' }))
  const categoryId = (category as { id: string }).id
  await must(admin.patch(`${base}/operation-categories/${categoryId}`, { assignScope: 'vault_members', name: 'Pay' }))
  await operateRights(bench, { categoryId, partyId: party.id })
  await must(admin.patch(`/tokens/${bench.vault.tokens.usdt.id}`, { enabled: false }))
  await must(admin.patch(`/tokens/${bench.vault.tokens.usdt.id}`, { enabled: true }))
  await recordPeople(bench.test.deps)
  const { userId } = await bench.test.signIn('disabled@example.org')
  await recordPeople(bench.test.deps)
  await must(admin.post(`/users/${userId}/disable`, { reason: 'Left' }))
}

/** Changes fields and grants of a category, groups of the address book, folders and shares. */
async function operateRights(
  bench: TransferBench,
  { categoryId, partyId }: { categoryId: string; partyId: string },
): Promise<void> {
  const { admin } = bench.vault
  const category = `${base}/operation-categories/${categoryId}` as const
  const addField = (key: string) => must(admin.post(`${category}/fields`, { key, label: key, type: 'text' }))
  const field = (await addField('invoice')) as { id: string }
  const gone = (await addField('gone')) as { id: string }
  await must(admin.patch(`${category}/fields/${field.id}`, { required: true, helpText: 'Its number' }))
  await must(admin.delete(`${category}/fields/${gone.id}`))
  const subject = { subjectType: 'user', subjectUserId: bench.firstApprover.userId }
  await must(admin.put(`${category}/grants`, { grants: [{ ...subject, canAssign: true }] }))
  await must(admin.put(`${category}/approvers`, { approvers: [{ kind: 'group', groupId: bench.approversId }] }))

  for (const action of ['create', 'update', 'add', 'remove', 'archive'])
    await allowAll(bench.vault, `counterparty_group_${action}`)
  const groups = `${base}/counterparty-groups` as const
  const createGroup = async (code: string) => (await must(admin.post(groups, { code, name: code }))) as { id: string }
  const [trusted, former] = [await createGroup('trusted'), await createGroup('former')]
  for (const { id } of [trusted, former]) await must(admin.post(`${groups}/${id}/members`, { counterpartyId: partyId }))
  await must(admin.patch(`${groups}/${trusted.id}`, { name: 'Trusted ones' }))
  await must(admin.delete(`${groups}/${former.id}/members/${partyId}`))
  await must(admin.post(`${groups}/${former.id}/archive`))
  await operateFolders(bench)
}

async function operateFolders(bench: TransferBench): Promise<void> {
  const { owner } = bench
  const address = await bench.fundedAddress()
  const team = (await must(bench.vault.admin.post(`${base}/policy-groups`, { code: 'team', name: 'Team' }))) as {
    id: string
  }
  const folders = `${base}/address-groups` as const
  const create = async (name: string) => (await must(owner.post(folders, { name }))) as { id: string }
  const [folder, gone] = [await create('Salaries'), await create('Gone')]
  for (const { id } of [folder, gone]) await must(owner.post(`${folders}/${id}/members`, { addressId: address.id }))
  await must(owner.patch(`${folders}/${folder.id}`, { name: 'Payroll' }))
  const toPerson = { subjectType: 'user', subjectId: bench.firstApprover.userId }
  for (const url of [`${folders}/${folder.id}/grants`, `${base}/addresses/${address.id}/grants`] as const) {
    await must(owner.post(url, toPerson))
    await must(owner.post(url, { ...toPerson, canTransfer: true }))
    await must(owner.post(url, { subjectType: 'group', subjectId: team.id }))
    const revoked = (await must(owner.post(url, { ...toPerson, subjectId: bench.secondApprover.userId }))) as {
      id: string
    }
    await must(owner.delete(`${url}/${revoked.id}`))
  }
  await must(owner.delete(`${folders}/${gone.id}`))
  await must(bench.vault.admin.delete(`/policy-groups/${team.id}`))
}
