import type { RelationOfOperation } from '@strongroom/sdk'
import { fromRaw } from '@strongroom/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { X } from 'lucide-react'
import { useState } from 'react'
import { formatAmount } from '../../lib/amounts.ts'
import { vaultOf } from '../../lib/api.ts'
import { t } from '../../lib/language.ts'
import { formatTime } from '../../lib/time.ts'
import { useViewer } from '../../lib/viewer.ts'
import { Button } from '../../ui/button.tsx'
import { DetailState } from '../../ui/list-states.tsx'
import { Card } from '../../ui/page.tsx'
import { Problem } from '../../ui/problem.tsx'
import { announce } from '../../ui/toast.tsx'
import { type Operation, refreshOperation, relationsQuery, tokensQuery } from './queries.ts'
import { RelationForm } from './relation-form.tsx'

type RelationsCardProps = { operation: Operation; tokenId: string }

/** The operations that this operation refunds, reverses, corrects or replaces, and those that do that to it. */
export function RelationsCard({ operation, tokenId }: RelationsCardProps) {
  const query = useQuery(relationsQuery(operation))
  const [adding, setAdding] = useState(false)
  const { isAuditor } = useViewer(operation.code)
  return (
    <Card
      title={t('Related operations')}
      actions={adding || isAuditor ? undefined : <Button onClick={() => setAdding(true)}>{t('Relate')}</Button>}
    >
      <DetailState query={query}>
        {query.data?.length === 0 && !adding && (
          <p className="text-quiet">{t('None. A refund or a correction can be related to what it concerns.')}</p>
        )}
        <ul className="divide-y divide-line">
          {query.data?.map((relation) => (
            <Relation key={relation.id} operation={operation} relation={relation} />
          ))}
        </ul>
      </DetailState>
      {adding && <RelationForm operation={operation} tokenId={tokenId} onDone={() => setAdding(false)} />}
    </Card>
  )
}

function Relation({ operation, relation }: { operation: Operation; relation: RelationOfOperation }) {
  const { code } = operation
  const client = useQueryClient()
  const { userId, isAdmin } = useViewer(code)
  const { data: tokens = [] } = useQuery(tokensQuery)
  const remove = useMutation({
    mutationFn: () => vaultOf(code).operationRelations.delete(relation.id),
    onSuccess: async () => {
      announce(t('The relation was removed.'))
      await refreshOperation(client, operation)
    },
  })
  const isSource = relation.role === 'source'
  const type = isSource ? relation.targetOperationType : relation.sourceOperationType
  const id = isSource ? relation.targetOperationId : relation.sourceOperationId
  const token = tokens.find((candidate) => candidate.id === relation.tokenId)
  return (
    <li className="flex items-start justify-between gap-2 py-2">
      <div className="min-w-0">
        {relationWords(relation)}{' '}
        <Link
          to={type === 'transfer' ? '/v/$code/transfers/$id' : '/v/$code/deposits/$id'}
          params={{ code, id }}
          className="text-accent underline"
        >
          {type === 'transfer' ? t('a transfer') : t('a deposit')}
        </Link>
        <span className="block text-[0.8125rem] text-quiet">
          {relation.relatedAmountRaw !== null &&
            token !== undefined &&
            `${formatAmount(fromRaw(relation.relatedAmountRaw, token))} ${token.symbol} · `}
          {formatTime(relation.createdAt)}
        </span>
        {relation.comment !== null && <span className="block [overflow-wrap:anywhere]">{relation.comment}</span>}
        <Problem error={remove.error} />
      </div>
      {(isAdmin || relation.createdById === userId) && (
        <button
          type="button"
          aria-label={t('Remove the relation')}
          className="grid size-8 shrink-0 place-items-center text-quiet hover:text-bad"
          onClick={() => remove.mutate()}
        >
          <X size={16} aria-hidden />
        </button>
      )}
    </li>
  )
}

function relationWords({ relationType, role }: RelationOfOperation): string {
  if (role === 'source') {
    if (relationType === 'refund') return t('Refunds')
    if (relationType === 'reversal') return t('Reverses')
    return relationType === 'correction' ? t('Corrects') : t('Replaces')
  }
  if (relationType === 'refund') return t('Refunded by')
  if (relationType === 'reversal') return t('Reversed by')
  return relationType === 'correction' ? t('Corrected by') : t('Replaced by')
}
