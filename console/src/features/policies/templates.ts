import type { CreatePolicyBody, PolicySelector } from '@strongroom/sdk'
import { formatAmount } from '../../lib/amounts.ts'
import { t } from '../../lib/language.ts'
import { codeOf } from './terms.ts'

/** The inputs of a template. Amounts are digits, in units of the token. */
export type Slots = {
  groupId: string
  approversId: string
  secondApproversId: string
  everyoneId: string
  token: string
  low: string
  high: string
}

export type Slot = keyof Slots

export type Template = {
  id: 'layers' | 'four_eyes' | 'daily_ceiling' | 'known_recipients'
  title: string
  summary: string
  asks: Slot[]
}

export type GroupedPolicy = CreatePolicyBody & { groupId: string }

export function templates(): Template[] {
  return [
    {
      id: 'layers',
      title: t('Three layers by amount'),
      summary: t(
        'Small payments need no vote, medium payments need one, and large payments need two votes and one of compliance.',
      ),
      asks: ['groupId', 'token', 'low', 'high', 'approversId', 'secondApproversId'],
    },
    {
      id: 'four_eyes',
      title: t('Four eyes, always'),
      summary: t('Every payment waits until a second person agrees.'),
      asks: ['groupId', 'approversId'],
    },
    {
      id: 'daily_ceiling',
      title: t('Daily ceiling'),
      summary: t('The vault pays at most a chosen amount of a token within 24 hours, whoever orders.'),
      asks: ['token', 'high'],
    },
    {
      id: 'known_recipients',
      title: t('Known recipients only'),
      summary: t('Payments go to addresses of the address book or of the vault, and to nobody else.'),
      asks: [],
    },
  ]
}

type Named = { token: string; low: string; high: string }

/** Builds the policies of a template, each with a code that no other policy has. */
export function policiesOf(id: Template['id'], slots: Slots, taken: readonly string[]): GroupedPolicy[] {
  const names = { token: slots.token, low: shown(slots.low), high: shown(slots.high) }
  const drafts = makers[id](slots, names)
  const codes = [...taken]
  return drafts.map((draft) => {
    const code = codeOf(draft.name, codes)
    codes.push(code)
    return { ...draft, code, actionType: 'transfer' as const }
  })
}

type Made = Omit<GroupedPolicy, 'code' | 'actionType'>

const require = (...selectors: PolicySelector[]) => [{ conditionType: 'require' as const, selectors }]
const votes = (approvalThreshold: number, groupId: string) => ({
  effect: 'requireApproval' as const,
  approvalThreshold,
  approvers: [{ kind: 'group' as const, groupId }],
})

const makers: Record<Template['id'], (slots: Slots, names: Named) => Made[]> = {
  layers: ({ groupId, token, low, high, approversId, secondApproversId }, names) => {
    const ofToken = { selectorType: 'token' as const, value: [token] }
    const above = require(ofToken, { selectorType: 'amount', value: { op: 'gt', value: high } })
    const medium = require(ofToken, { selectorType: 'amount', value: { op: 'gt', value: low } }, {
      selectorType: 'amount',
      value: { op: 'lte', value: high },
    })
    return [
      {
        groupId,
        name: t('Up to {low} {token} alone', names),
        effect: 'allow',
        rules: require(ofToken, { selectorType: 'amount', value: { op: 'lte', value: low } }),
      },
      {
        groupId,
        name: t('Above {low} to {high} {token}: one vote', names),
        ...votes(1, approversId),
        rules: medium,
      },
      { groupId, name: t('Above {high} {token}: two votes', names), ...votes(2, approversId), rules: above },
      { groupId, name: t('Above {high} {token}: compliance', names), ...votes(1, secondApproversId), rules: above },
    ]
  },
  four_eyes: ({ groupId, approversId }) => [
    { groupId, name: t('Every payment needs a second person'), ...votes(1, approversId), rules: [] },
  ],
  daily_ceiling: ({ everyoneId, token, high }, names) => [
    {
      groupId: everyoneId,
      name: t('At most {high} {token} a day', names),
      effect: 'block',
      blockReason: t('The vault may pay {high} {token} within 24 hours', names),
      rules: require({ selectorType: 'token', value: [token] }, {
        selectorType: 'velocityAmount',
        value: { op: 'gt', value: high, windowSeconds: 86_400, per: 'vault' },
      }),
    },
  ],
  known_recipients: ({ everyoneId }) => [
    {
      groupId: everyoneId,
      name: t('Known recipients only'),
      effect: 'block',
      blockReason: t('The recipient is not in the address book'),
      rules: require({ selectorType: 'destinationType', value: ['unknown'] }),
    },
  ],
}

function shown(amount: string): string {
  return amount === '' ? '' : formatAmount(amount)
}
