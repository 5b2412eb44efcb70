import type { ApprovalRequest } from '@strongroom/sdk'
import { type Authority, canonicalJson, type Waiting } from '@strongroom/sdk/signing'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ComponentType, type ReactNode, Suspense } from 'react'
import { vaultOf } from '../../lib/api.ts'
import { t } from '../../lib/language.ts'
import { nameOf, sessionQuery } from '../../lib/session.ts'
import { signingAuthorityQuery } from '../../lib/signing-authority.ts'
import { formatTime, formatTimeLeft } from '../../lib/time.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Fingerprint } from '../../ui/fingerprint.tsx'
import { DetailState, Failed } from '../../ui/list-states.tsx'
import { Card, Facts, Page } from '../../ui/page.tsx'
import { Problem } from '../../ui/problem.tsx'
import { SignedDocument } from '../../ui/signed-order.tsx'
import { holdQuery } from '../holds/queries.ts'
import { ChangeFacts } from './change-facts.tsx'
import { Decide } from './decide.tsx'
import { requestQuery } from './queries.ts'
import {
  EventResolution,
  type EventResolutionPayload,
  FeeRaise,
  type FeeRaisePayload,
  TransferResolution,
  type TransferResolutionPayload,
} from './resolution.tsx'
import { Votes } from './votes.tsx'
import { actionOf, statusOf } from './words.ts'

/** Draws the page of a vote on a change of the rules, with the differences that the vote is bound to. */
type RulesChange = ComponentType<{
  code: string
  request: ApprovalRequest
  children: (differences: ReactNode) => ReactNode
}>
type RequestApprovalProps = { code: string; id: string; RulesChange: RulesChange }

/** Everything that an approver needs to decide on a change. */
export function RequestApproval({ code, id, RulesChange }: RequestApprovalProps) {
  const query = useQuery(requestQuery(code, id))
  return (
    <Page title={query.data === undefined ? t('Approve a change') : actionOf(query.data.boundPayload.action)}>
      <DetailState query={query}>
        {query.data !== undefined && <Shown code={code} request={query.data} RulesChange={RulesChange} />}
      </DetailState>
    </Page>
  )
}

type ShownProps = { code: string; request: ApprovalRequest; RulesChange: RulesChange }

function Shown({ code, request, RulesChange }: ShownProps) {
  if (request.boundPayload.action !== 'rules_change')
    return <Decision code={code} request={request} differences={null} />
  return (
    <Suspense>
      <RulesChange code={code} request={request}>
        {(differences) => <Decision code={code} request={request} differences={differences} />}
      </RulesChange>
    </Suspense>
  )
}

type DecisionProps = { code: string; request: ApprovalRequest; differences: ReactNode }

function Decision({ code, request, differences }: DecisionProps) {
  const { word, tone } = statusOf(request.status, true)
  const isOpen = request.status === 'pending'
  const payload = <Payload {...{ code, request, differences }} />
  const { data: authority } = useQuery({ ...signingAuthorityQuery(code), enabled: isOpen })
  const isUnbound = request.boundPayload.action === 'rules_change' && differences === null
  return (
    <>
      <Problem error={isOpen && isUnbound ? new Error(unbound()) : null} />
      <Card title={t('What is asked for')} actions={<Badge tone={tone}>{word}</Badge>}>
        {payload}
        {request.boundPayload.action === 'hold_release' && <HoldState code={code} id={request.targetId ?? ''} />}
        {request.boundPayload.action === 'rules_change' && (
          <Link to="/v/$code/rules/$id" params={{ code, id: request.targetId ?? '' }} className={buttonClass()}>
            {t('See what it changes')}
          </Link>
        )}
      </Card>
      <Card title={t('About this request')}>
        <Facts
          facts={[
            [t('Asked by'), nameOf(request.initiator)],
            [t('Asked at'), formatTime(request.createdAt)],
            [t('Time left'), isOpen ? formatTimeLeft(request.expiresAt) : null],
            [t('Resolved at'), request.resolvedAt === null ? null : formatTime(request.resolvedAt)],
            [t('Failed because'), request.failureReason],
          ]}
        />
        <p className="mt-3 text-[0.8125rem] text-quiet">
          {t('Your vote is bound to exactly this request:')}{' '}
          <span className="code [overflow-wrap:anywhere]">{request.payloadHash}</span>
        </p>
        <SignedDocument document={request.boundPayload} />
      </Card>
      <Votes
        requirements={request.requirements}
        approvers={request.approvers}
        quorumReachable={request.quorumReachable}
      />
      {isOpen && <Cancel code={code} request={request} />}
      <Decide
        subject={{
          kind: 'request',
          code,
          shown: request,
          isOpen,
          toSign: authority === undefined ? null : toSignOf(request, authority),
          notApprovedBecause: isUnbound ? unbound() : null,
        }}
        summary={
          <>
            <p className="font-semibold">{actionOf(request.boundPayload.action)}</p>
            {payload}
          </>
        }
      />
    </>
  )
}

const unbound = () =>
  t(
    'This request is of an earlier version of Strongroom: its votes are not bound to the differences, so it can only be rejected. Ask its author to submit the change again.',
  )

/** Returns the whole document of a request, which the page shows. */
function toSignOf({ boundPayload }: ApprovalRequest, authority: Authority | null): Waiting {
  return { kind: 'approval_request', boundPayload, expected: { authority, document: canonicalJson(boundPayload) } }
}

/** The state of the hold, for members who may read it. */
function HoldState({ code, id }: { code: string; id: string }) {
  const { data: hold } = useQuery(holdQuery(code, id))
  if (hold === undefined) return null
  return (
    <p className="mt-3">
      <Badge tone={hold.isActive ? 'bad' : 'good'}>
        {hold.isActive ? t('The hold is in force.') : t('The hold was released.')}
      </Badge>
    </p>
  )
}

/** Returns the payload of a single step that votes are bound to. The `payload` of the answer is not signed. */
const boundOf = ({ boundPayload }: ApprovalRequest) =>
  (boundPayload.steps as { step?: { payload: unknown } }[])[0]?.step?.payload

/** The request as names and values. */
function Payload({ code, request, differences }: DecisionProps) {
  const payload = boundOf(request)
  if (request.boundPayload.action === 'rules_change') {
    const { title } = payload as { title: string }
    return (
      <>
        <p className="mb-3">{title}</p>
        {differences}
        <details className="my-3" open={differences === null}>
          <summary className="cursor-pointer text-quiet">{t('What votes are bound to')}</summary>
          <ChangeFacts code={code} request={request} />
        </details>
      </>
    )
  }
  if (request.boundPayload.action === 'transfer_resolve') {
    return <TransferResolution payload={payload as TransferResolutionPayload} />
  }
  if (request.boundPayload.action === 'event_resolve') {
    return <EventResolution payload={payload as EventResolutionPayload} />
  }
  if (request.boundPayload.action === 'transfer_replace') {
    return <FeeRaise payload={payload as FeeRaisePayload} />
  }
  if (request.boundPayload.action === 'passkey_add') {
    const { name, fingerprint } = payload as { name: string; fingerprint: string }
    return (
      <>
        <Facts
          facts={[
            [t('Name'), name],
            [t('Fingerprint of the key'), <Fingerprint key="key" hash={fingerprint} />],
          ]}
        />
        <p>{t('Compare it with what {name} sees on their own page.', { name: nameOf(request.initiator) })}</p>
      </>
    )
  }
  return <ChangeFacts code={code} request={request} />
}

/** The initiator may cancel a request as long as it waits. */
function Cancel({ code, request }: { code: string; request: ApprovalRequest }) {
  const { data: session } = useQuery(sessionQuery)
  const client = useQueryClient()
  const cancel = useMutation({
    mutationFn: () => vaultOf(code).approvalRequests.cancel(request.id),
    onSuccess: async (answer) => {
      client.setQueryData(requestQuery(code, request.id).queryKey, answer)
      await client.invalidateQueries({ queryKey: ['inbox'] })
    },
  })
  if (session?.user.id !== request.initiatorId) return null
  return (
    <div className="mb-4">
      {cancel.isError && <Failed error={cancel.error} retry={() => cancel.mutate()} />}
      <Button look="danger" busy={cancel.isPending} onClick={() => cancel.mutate()}>
        {t('Cancel this request')}
      </Button>
    </div>
  )
}
