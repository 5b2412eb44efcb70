import type { Comparison, CreatePolicyBody } from '@strongroom/sdk'

/** The ids of the groups of the demo. */
export type Groups = { administrators: string; treasury: string; compliance: string }

/** A policy, and the group to whose members it applies. */
type Policy = CreatePolicyBody & { groupId: string }

const above = (value: string): Comparison => ({ op: 'gt', value })
const upTo = (value: string): Comparison => ({ op: 'lte', value })

const allow = { effect: 'allow' } as const

const votes = (approvalThreshold: number, groupId: string) => ({
  effect: 'requireApproval' as const,
  approvalThreshold,
  approvers: [{ kind: 'group' as const, groupId }],
})

const transfersOf = (code: string, ...amounts: Comparison[]): Pick<CreatePolicyBody, 'actionType' | 'rules'> => ({
  actionType: 'transfer',
  rules: [
    {
      conditionType: 'require',
      selectors: [
        { selectorType: 'token', value: code },
        ...amounts.map((value) => ({ selectorType: 'amount' as const, value })),
      ],
    },
  ],
})

/**
 * Returns rules that match when all outflows of an address in a day, including the requested transfer, exceed the
 * value.
 */
const dayAbove = (code: string, value: string): Pick<CreatePolicyBody, 'actionType' | 'rules'> => ({
  actionType: 'transfer',
  rules: [
    {
      conditionType: 'require',
      selectors: [
        { selectorType: 'token', value: code },
        {
          selectorType: 'velocityAmount',
          value: { op: 'gt', value, windowSeconds: 86_400, per: 'sourceAddress' },
        },
      ],
    },
  ],
})

/**
 * Returns three layers by amount: small needs no vote, medium one of the treasury, large two of the treasury and one of
 * compliance. A daily limit adds compliance to everything that exceeds it.
 */
export function demoPolicies({ administrators, treasury, compliance }: Groups): Policy[] {
  const newAddress = { actionType: 'create_address', ...allow } as const
  const ofTreasury = [
    { code: 'treasury-addresses', name: 'The treasury creates addresses', ...newAddress },
    { code: 'tusd-small', name: 'Up to 100 TUSD', ...transfersOf('TUSD', upTo('100')), ...allow },
    {
      code: 'tusd-medium',
      name: 'Up to 10,000 TUSD: one of the treasury',
      ...transfersOf('TUSD', above('100'), upTo('10000')),
      ...votes(1, treasury),
    },
    // A large amount matches both policies, and each has its own threshold.
    {
      code: 'tusd-large-treasury',
      name: 'Above 10,000 TUSD: two of the treasury',
      ...transfersOf('TUSD', above('10000')),
      ...votes(2, treasury),
    },
    {
      code: 'tusd-large-compliance',
      name: 'Above 10,000 TUSD: one of compliance',
      ...transfersOf('TUSD', above('10000')),
      ...votes(1, compliance),
    },
    {
      code: 'tusd-daily',
      name: 'Above 40,000 TUSD in a day from one address: one of compliance',
      ...dayAbove('TUSD', '40000'),
      ...votes(1, compliance),
    },
    { code: 'eth-small', name: 'Up to 0.1 ETH', ...transfersOf('ETH', upTo('0.1')), ...allow },
    {
      code: 'eth-large',
      name: 'Above 0.1 ETH: two of the treasury',
      ...transfersOf('ETH', above('0.1')),
      ...votes(2, treasury),
    },
  ]
  return [
    ...ofTreasury.map((policy) => ({ ...policy, groupId: treasury })),
    { code: 'admin-addresses', name: 'Administrators create addresses', ...newAddress, groupId: administrators },
    {
      code: 'admin-counterparties',
      name: 'Administrators enter counterparties',
      actionType: 'counterparty_create',
      ...allow,
      groupId: administrators,
    },
    {
      code: 'compliance-addresses',
      name: 'Compliance asks administrators for addresses',
      actionType: 'create_address',
      ...votes(1, administrators),
      groupId: compliance,
    },
    // One person places a hold, and a person who does not administer the vault must agree to its release.
    {
      code: 'admin-releases',
      name: 'Compliance agrees before what is held goes on',
      actionType: 'hold_release',
      ...votes(1, compliance),
      groupId: administrators,
    },
  ]
}
