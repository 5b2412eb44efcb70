// Replaces the policies of a vault by those of this file, and tests them by simulation. Needs the token of an
// administrator.
import { isDeepStrictEqual } from 'node:util'
import { vault } from './connect.js'

const everyone = await groupId('everyone')
const administrators = await groupId('administrators')

/** @type {import('@strongroom/sdk').CreatePolicyBody[]} */
const policies = [
  {
    code: 'code-small',
    name: 'Up to 1,000 TUSD',
    actionType: 'transfer',
    effect: 'allow',
    rules: [
      {
        conditionType: 'require',
        selectors: [
          { selectorType: 'token', value: 'TUSD' },
          { selectorType: 'amount', value: { op: 'lte', value: '1000' } },
        ],
      },
    ],
  },
  {
    code: 'code-large',
    name: 'Above 1,000 TUSD an administrator agrees',
    actionType: 'transfer',
    effect: 'requireApproval',
    approvalThreshold: 1,
    approvers: [{ kind: 'group', groupId: administrators }],
    rules: [
      {
        conditionType: 'require',
        selectors: [
          { selectorType: 'token', value: 'TUSD' },
          { selectorType: 'amount', value: { op: 'gt', value: '1000' } },
        ],
      },
    ],
  },
  {
    code: 'code-ceiling',
    name: 'No more than 50,000 TUSD a day',
    actionType: 'transfer',
    effect: 'block',
    blockReason: 'The vault has paid 50,000 TUSD within 24 hours',
    rules: [
      {
        conditionType: 'require',
        selectors: [
          { selectorType: 'token', value: 'TUSD' },
          { selectorType: 'velocityAmount', value: { op: 'gt', value: '50000', windowSeconds: 86_400, per: 'vault' } },
        ],
      },
    ],
  },
]

/** @type {Map<string, import('@strongroom/sdk').PolicyListItem>} */
const present = new Map()
for await (const policy of vault.policies.list({ limit: 100 })) present.set(policy.code, policy)

for (const policy of policies) {
  const known = present.get(policy.code)
  present.delete(policy.code)
  if (known === undefined) {
    await vault.policies.create(everyone, policy)
    console.log(policy.code, 'created')
  } else if (isDeepStrictEqual(wishOf(known), wishOf(policy))) {
    console.log(policy.code, 'unchanged')
  } else {
    const { code, actionType, ...changes } = policy
    await vault.policies.update(known.id, changes)
    console.log(code, 'updated')
  }
}
// A policy that a person wrote by hand is reported, not removed.
for (const code of present.keys()) console.log(code, 'not in code')

const [source] = (await vault.addresses.list({ limit: 1 }).page()).items
if (source !== undefined) {
  for (const amount of ['1000', '1000.01', '50000.01']) {
    const { effect } = await vault.policies.simulate({
      actionType: 'transfer',
      payload: {
        fromAddressId: source.id,
        toAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
        token: 'TUSD',
        amount,
      },
    })
    console.log(amount, effect)
  }
}

/** Returns the part of a policy that this file decides, in a form that can be compared. */
function wishOf(/** @type {typeof policies[number] | import('@strongroom/sdk').PolicyListItem} */ policy) {
  const rules = (policy.rules ?? []).map(({ conditionType, selectors }) => [
    conditionType,
    selectors.map(({ selectorType, value }) => [selectorType, value]),
  ])
  const approvers = (policy.approvers ?? []).map(({ kind, userId, groupId }) => [kind, userId ?? null, groupId ?? null])
  return [policy.name, policy.effect, policy.approvalThreshold ?? 0, policy.blockReason ?? null, rules, approvers]
}

async function groupId(/** @type {string} */ code) {
  for await (const group of vault.policyGroups.list()) if (group.code === code) return group.id
  throw new Error(`The vault has no group ${code}`)
}
