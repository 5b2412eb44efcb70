import { expect } from 'vitest'
import { visibleScopeOf } from '../../server/src/access/address-scope.ts'
import { findMemberById } from '../../server/src/access/authenticate.ts'
import { AppError } from '../../server/src/lib/errors.ts'
import { loadOrder } from '../../server/src/modules/money/orders/load-order.ts'
import { decide } from '../../server/src/modules/rules/decisions/decide.ts'
import type { Address } from '../../server/src/testing/answer.ts'
import type { Person } from '../../server/src/testing/app.ts'
import type { Authenticator } from '../../server/src/testing/authenticator.ts'
import { fakeAddress } from '../../server/src/testing/fake-wallet.ts'
import {
  addMember,
  createAddress,
  createVaultFixture,
  deposit,
  usdtContract,
} from '../../server/src/testing/fixtures.ts'
import { createGovernanceBench, type GovernanceBench } from '../../server/src/testing/governance-bench.ts'
import { addPasskey } from '../../server/src/testing/passkeys.ts'
import { strictness } from '../../server/src/testing/rules-model.ts'
import { leaveUndone } from './undone.ts'

/** A vault with governance whose policies look at whatever there is to look at, and people who do their work in it. */
export type World = {
  bench: GovernanceBench
  /** From when on there is what the others left undone, so that one more person decides it. */
  since: Date
  /** Those who are to be as well off as before, and administer the platform. */
  honest: { people: Person[]; platform: Person[] }
  /** The one administrator, the one platform administrator and a service of theirs. */
  alone: { administrator: Person; platform: Person; service: Person }
  /** A passkey of the administrator. */
  key: Authenticator
  questions: Question[]
}

type Question = { initiatorId: string; body: Parameters<typeof loadOrder>[1] }

const made = <Body>({ status, body }: { status: number; body: Body }): Body => {
  expect(status, JSON.stringify(body)).toBe(201)
  return body
}

// tidy: long because it is a list of what the vault has
export async function createWorld(dataDir: string): Promise<World> {
  const bench = await createGovernanceBench({ DATA_DIR: dataDir })
  const { test, vault, url } = bench
  const { admin } = vault
  const administrator = bench.admins[3]!
  const platform = await test.signIn('platform@example.org', { isPlatformAdmin: true })
  const secondPlatform = await test.signIn('second.platform@example.org', { isPlatformAdmin: true })
  const clerk = await addMember(test, vault, 'clerk@example.org', ['clerks'])
  await createVaultFixture(test, { code: 'elsewhere', adminEmail: 'elsewhere@example.org', isLocked: false })
  const { token } = made(
    await administrator.post(`${url}/service-tokens`, { name: 'Robot', groupIds: [vault.groups.administrators] }),
  )
  const client = test.client({ authorization: `Bearer ${token}` })
  const service = { ...client, userId: (await client.get('/users/me')).body.id } as Person
  await allow(bench, 'create_address', [])
  await allow(bench, 'counterparty_create', [])
  const supplierAddress = fakeAddress('the supplier')
  const addresses = [{ network: 'ethereum', address: supplierAddress }]
  made(await admin.post(`${url}/counterparties`, { name: 'Supplier', kind: 'company', addresses }))
  const categories = await categoriesOf(bench, clerk)
  const sources: { person: Person; address: Address }[] = []
  for (const person of [bench.member, clerk, administrator]) {
    const address = await createAddress(person)
    await deposit(test, { address: address.address, amount: '100' })
    await deposit(test, { address: address.address, asset: usdtContract, amount: '1000' })
    sources.push({ person, address })
  }
  const [shared, folders] = [sources[0]!, [] as string[]]
  const grant = { subjectType: 'user', subjectId: clerk.userId, canTransfer: true }
  made(await shared.person.post(`${url}/addresses/${shared.address.id}/grants`, grant))
  for (const { person, address } of sources) {
    const folder = made(await person.post(`${url}/address-groups`, { name: 'Hot' }))
    folders.push(folder.id)
    if (person !== clerk)
      made(await person.post(`${url}/address-groups/${folder.id}/members`, { addressId: address.id }))
  }
  for (const code of ['ETH', 'USDT']) {
    const { id } = code === 'ETH' ? vault.tokens.eth : vault.tokens.usdt
    const usdRate = code === 'ETH' ? '10' : '1'
    const asOf = new Date(test.clock.now().getTime()).toISOString()
    made(await admin.post(`/tokens/${id}/rates`, { usdRate, asOf, source: 'manual' }))
  }
  await allow(bench, 'transfer', [])
  const restrict = (code: string, effect: 'block' | 'requireApproval', rules: object[]) =>
    policy(bench, { code, effect, actionType: 'transfer', rules })
  const rule = (conditionType: string, selectorType: string, value: unknown) => ({
    conditionType,
    selectors: [{ selectorType, value }],
  })
  const above = (value: string) => ({ op: 'gt', value })
  await restrict('large-unless-payroll', 'block', [
    rule('require', 'amount', above('40')),
    rule('exclude', 'category', ['payroll']),
  ])
  await restrict('travel', 'requireApproval', [rule('require', 'category', ['travel'])])
  await restrict('cold', 'block', [rule('exclude', 'addressGroup', folders), rule('require', 'amount', above('5'))])
  await restrict('worth', 'block', [rule('require', 'amountUsd', above('600'))])
  await restrict('share', 'requireApproval', [rule('require', 'percentOfBalance', above('30'))])
  await restrict('new', 'requireApproval', [rule('require', 'destinationAgeHours', { op: 'lt', value: '1' })])
  await restrict('unknown', 'block', [
    rule('require', 'destinationType', ['unknown']),
    rule('require', 'amount', above('20')),
  ])
  await restrict('companies', 'requireApproval', [rule('exclude', 'counterpartyKind', ['company'])])
  expect(categories.length).toBe(2)
  for (const actionType of ['counterparty_group_create', 'counterparty_group_add']) await allow(bench, actionType, [])
  const left = await leaveUndone(bench, administrator, service)
  for (const actionType of votedOn)
    await policy(bench, {
      code: `${actionType.replaceAll('_', '-')}`,
      effect: 'requireApproval',
      actionType,
      rules: [],
    })
  const key = await addPasskey(administrator)
  const signed = await admin.patch(url, { walletWebhookSecret: 'only-the-wallet-service-signs-with-this' })
  expect(signed.status, JSON.stringify(signed.body)).toBe(200)
  const governed = await bench.govern()
  expect(governed.status, JSON.stringify(governed.body)).toBe(200)
  const since = test.clock.now()
  await left.underGovernance(secondPlatform)
  const honest = { people: [...bench.admins.slice(0, 3), bench.member, clerk], platform: [admin, secondPlatform] }
  const questions = sources.flatMap(({ person, address }) =>
    ['ETH', 'USDT'].flatMap((token) =>
      ['1', '15', '30', '60'].flatMap((amount) =>
        [
          fakeAddress('a stranger'),
          supplierAddress,
          sources.find((source) => source.person !== person)!.address.address,
        ].flatMap((toAddress) =>
          [null, 'payroll', 'travel'].map((category) => ({
            initiatorId: person.userId,
            body: {
              fromAddressId: address.id,
              toAddress,
              amount,
              token,
              ...(category === null ? {} : { metadata: { category } }),
            },
          })),
        ),
      ),
    ),
  )
  return { bench, since, honest, key, alone: { administrator, platform, service }, questions: questions.slice(0, 216) }
}

/** The operations that one person asks for and another person allows. */
const votedOn = [
  ...['counterparty_update', 'counterparty_archive', 'counterparty_group_create', 'counterparty_group_update'],
  ...['counterparty_group_archive', 'counterparty_group_add', 'counterparty_group_remove'],
]

async function policy(
  bench: GovernanceBench,
  body: { code: string; effect: string; actionType: string; rules: object[] },
) {
  const approvalThreshold = body.effect === 'requireApproval' ? 1 : 0
  const settings = { ...body, name: body.code, approvalThreshold }
  made(await bench.vault.admin.post(`/policy-groups/${bench.vault.groups.everyone}/policies`, settings))
}

const allow = (bench: GovernanceBench, actionType: string, rules: object[]) =>
  policy(bench, { code: `allow-${actionType.replaceAll('_', '-')}`, effect: 'allow', actionType, rules })

async function categoriesOf({ vault: { admin }, url, member }: GovernanceBench, clerk: Person): Promise<string[]> {
  const of = async (body: { key: string; [setting: string]: unknown }) =>
    made(await admin.post(`${url}/operation-categories`, { name: body.key, ...body })).id
  const payroll = await of({ key: 'payroll', assignScope: 'restricted', viewScope: 'restricted' })
  const grants = [
    { subjectType: 'user', subjectUserId: clerk.userId, canView: true, canEdit: true },
    { subjectType: 'user', subjectUserId: member.userId, canView: true },
  ]
  expect((await admin.put(`${url}/operation-categories/${payroll}/grants`, { grants })).status).toBe(200)
  const secret = { key: 'secret', label: 'Secret', type: 'text', sensitive: true }
  made(await admin.post(`${url}/operation-categories/${payroll}/fields`, secret))
  return [payroll, await of({ key: 'travel' })]
}

/** Returns how strict the answer to each question is now. A request that is not an order counts as stricter than a blocked order. */
export async function answersOf({ bench, questions }: World): Promise<number[]> {
  const { db } = bench.test.deps
  const now = bench.test.clock.now()
  const answers: number[] = []
  for (const { initiatorId, body } of questions) {
    const member = await findMemberById(db, bench.vault.id, initiatorId)
    if (member === null || member.isHeld) {
      answers.push(refused)
      continue
    }
    try {
      const scope = visibleScopeOf(member)
      const { order, question } = await loadOrder(db, body, { scope, initiator: member, spends: true, now })
      answers.push(order.source.token_enabled ? strictness(await decide(db, question)) : refused)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      answers.push(refused)
    }
  }
  return answers
}

const refused = 4_000
