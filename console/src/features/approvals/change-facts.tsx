import type { ApprovalRequest } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { type Kind, kindWords } from '../../lib/counterparty-kinds.ts'
import { t } from '../../lib/language.ts'
import { type Fact, Facts } from '../../ui/page.tsx'
import { type NamedKind, namedQuery } from './queries.ts'
import { actionOf } from './words.ts'

/** A step of the document that a vote is bound to. */
type BoundStep = {
  targetType: string
  targetId: string | null
  step: { action: ApprovalRequest['action']; payload: Record<string, unknown> }
}

/**
 * The changes of a request and their targets, read from the document that the vote is bound to, with names beside the
 * ids.
 */
export function ChangeFacts({ code, request }: { code: string; request: ApprovalRequest }) {
  const steps = request.boundPayload.steps as BoundStep[]
  if (steps.length === 1) return <StepFacts code={code} bound={steps[0]!} />
  return (
    <ol className="grid gap-3">
      {steps.map((bound, index) => (
        <li key={`${index}-${bound.step.action}`} className="border-l-2 border-line pl-3">
          <h3 className="font-medium">
            {t('{number}. {action}', { number: index + 1, action: actionOf(bound.step.action) })}
          </h3>
          <StepFacts code={code} bound={bound} />
        </li>
      ))}
    </ol>
  )
}

function StepFacts({ code, bound: { targetType, targetId, step } }: { code: string; bound: BoundStep }) {
  const named = (kind: NamedKind, id: unknown) => <Named key={String(id)} {...{ code, kind }} id={String(id)} />
  const isNamed = targetId !== null && targetType in nameWords()
  const target: Fact[] = isNamed
    ? [[nameWords()[targetType as NamedKind], named(targetType as NamedKind, targetId)]]
    : []
  const facts = Object.entries(step.payload).map(([name, value]): Fact => {
    if (name === 'counterpartyId') return [nameWords().counterparty, named('counterparty', value)]
    if (name === 'categoryId') return [nameWords().category, named('category', value)]
    if (name === 'operationId') return [t('Operation'), operationLink(code, step.payload.operationType, String(value))]
    if (name === 'operationType') return [name, null]
    if (name === 'removeAddressIds') {
      return [inWords(name), <RemovedAddresses key={name} code={code} id={targetId ?? ''} ids={value as string[]} />]
    }
    if (name === 'hold') {
      const { subjectName, reason } = value as { subjectName: string; reason: string }
      return [t('Hold'), `${subjectName}: ${reason}`]
    }
    if (name === 'kind') return [t('Kind'), kindWords()[value as Kind] ?? textOf(value)]
    return [inWords(name), textOf(value)]
  })
  return <Facts facts={[...target, ...facts]} />
}

function nameWords(): Record<NamedKind, string> {
  return { counterparty: t('Counterparty'), counterparty_group: t('Group of counterparties'), category: t('Category') }
}

/**
 * The name of the object with this id, as a link to it. Shows the id itself where the reader may not see the object, or
 * where it does not exist yet.
 */
function Named({ code, kind, id }: { code: string; kind: NamedKind; id: string }) {
  const [, step] = /^\$step:(\d+)$/.exec(id) ?? []
  const { data } = useQuery({ ...namedQuery(code, kind, id), enabled: step === undefined })
  if (step !== undefined) return t('what step {number} creates', { number: Number(step) + 1 })
  const pages = { counterparty: 'address-book', counterparty_group: 'address-book/groups', category: 'categories' }
  return linkTo(`/v/${code}/${pages[kind]}/${id}`, data?.name ?? id)
}

function operationLink(code: string, type: unknown, id: string): ReactNode {
  return type === 'deposit'
    ? linkTo(`/v/${code}/deposits/${id}`, t('Deposit'))
    : linkTo(`/v/${code}/transfers/${id}`, t('Transfer'))
}

function linkTo(path: string, text: string): ReactNode {
  return (
    <Link to={path as '/'} className="text-accent underline">
      {text}
    </Link>
  )
}

function RemovedAddresses({ code, id, ids }: { code: string; id: string; ids: string[] }) {
  const { data } = useQuery(namedQuery(code, 'counterparty', id))
  return ids.map((addressId) => (
    <span key={addressId} className="code block">
      {data?.addresses?.find((address) => address.id === addressId)?.address ?? addressId}
    </span>
  ))
}

/** Turns "walletServiceUrl" into "Wallet service url". */
function inWords(name: string): string {
  const known: Record<string, () => string> = {
    addAddresses: () => t('New addresses'),
    address: () => t('Address'),
    code: () => t('Code'),
    description: () => t('Description'),
    label: () => t('Label'),
    name: () => t('Name'),
    network: () => t('Network'),
    reason: () => t('Reason'),
    removeAddressIds: () => t('Removed addresses'),
    token: () => t('Token'),
  }
  const words = name
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase()
  return known[name]?.() ?? words.charAt(0).toUpperCase() + words.slice(1)
}

function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null
  if (Array.isArray(value)) return value.map(textOf).join('; ')
  if (typeof value !== 'object') return String(value)
  return Object.entries(value)
    .map(([name, member]) => `${inWords(name)}: ${textOf(member) ?? '–'}`)
    .join(', ')
}
