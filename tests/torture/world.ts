import { newId } from '../../server/src/lib/ids.ts'
import { newSecret, sha256 } from '../../server/src/lib/secrets.ts'
import type { BodyOf } from '../../server/src/testing/answer.ts'
import type { Stack } from './stack.ts'

type Place = Pick<Stack, 'sql' | 'nodeUrl'>

export type Address = { id: string; address: string }
export type Person = { id: string; token: string }
/** One vault whose transfers above 100 need the votes of both approvers. */
export type World = { vault: string; owner: Person; approvers: [Person, Person]; addresses: Address[] }

export const freeAmountMax = 100
const vault = 'main-vault'
const addressesCount = 3

/** @param wallet the wallet service, with the token of its client if it asks for one */
export async function createWorld(stack: Place, wallet: { url: string; token?: string }): Promise<World> {
  const operator = await addPerson(stack, 'operator@example.org', true)
  const owner = await addPerson(stack, 'owner@example.org')
  const approvers: [Person, Person] = [
    await addPerson(stack, 'first.approver@example.org'),
    await addPerson(stack, 'second.approver@example.org'),
  ]
  const post = async <Url extends string>(by: Person, path: Url, body: object): Promise<BodyOf<'post', Url>> => {
    const response = await fetch(`${stack.nodeUrl()}/api/v1${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${by.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${text}`)
    return JSON.parse(text)
  }

  await post(operator, '/vaults', {
    vault: { code: vault, name: 'Main vault', walletServiceUrl: wallet.url, walletServiceSecret: wallet.token },
    routes: {
      network: { order: 0, name: 'Network', variants: [{ id: 60, code: 'ethereum', name: 'Ethereum' }] },
      index: { order: 1, name: 'Index', dynamic: true },
    },
  })
  const coin = { network: 'ethereum', code: 'ETH', symbol: 'ETH', name: 'Ether', contractAddress: null, decimals: 18 }
  await post(operator, '/tokens', coin)
  await post(operator, `/vaults/${vault}/lock`, {})
  const groupOf = async (code: string, members: Person[]): Promise<string> => {
    const { id } = await post(operator, `/vaults/${vault}/policy-groups`, { code, name: code })
    for (const member of members) await post(operator, `/policy-groups/${id}/members`, { userId: member.id })
    return id
  }
  const treasury = await groupOf('treasury', [owner])
  const compliance = await groupOf('compliance', approvers)
  const policy = (code: string, rest: object) =>
    post(operator, `/policy-groups/${treasury}/policies`, { code, name: code, actionType: 'transfer', ...rest })
  const amount = (op: string) => [
    { conditionType: 'require', selectors: [{ selectorType: 'amount', value: { op, value: `${freeAmountMax}` } }] },
  ]
  await policy('addresses', { actionType: 'create_address', effect: 'allow' })
  await policy('small', { effect: 'allow', rules: amount('lte') })
  await policy('large', {
    effect: 'requireApproval',
    rules: amount('gt'),
    approvalThreshold: 2,
    approvers: [{ kind: 'group', groupId: compliance }],
  })
  const addresses: Address[] = []
  for (let i = 0; i < addressesCount; i += 1) {
    addresses.push(await post(owner, `/vaults/${vault}/addresses`, { network: 'ethereum', segments: {}, token: 'ETH' }))
  }
  return { vault, owner, approvers, addresses }
}

/** Signed in by SQL, because sign-in is not under test. */
async function addPerson(stack: Place, email: string, isPlatformAdmin = false): Promise<Person> {
  const person = { id: newId(new Date()), token: newSecret() }
  await stack.sql(
    `insert into users (id, email, name, is_platform_admin, created_at, updated_at) values ($1, $2, $2, $3, now(), now())`,
    [person.id, email, isPlatformAdmin],
  )
  await stack.sql(
    `insert into sessions (id, token_hash, user_id, created_at, last_seen_at, expires_at, ends_at)
     values ($1, $2, $1, now(), now(), now() + interval '7 days', now() + interval '7 days')`,
    [person.id, sha256(person.token)],
  )
  return person
}
