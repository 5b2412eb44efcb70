import type { AuditRecord } from '@strongroom/sdk'
import { useMutation } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { t } from '../../lib/language.ts'
import { saveBlob } from '../../lib/save-file.ts'
import { formatTimeInFull } from '../../lib/time.ts'
import { Button } from '../../ui/button.tsx'
import type { Column } from '../../ui/data-table.tsx'
import { Failed } from '../../ui/list-states.tsx'
import { Facts } from '../../ui/page.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { SmallTable } from '../../ui/small-table.tsx'
import { type Line, linesOf } from './difference.ts'
import { evidenceOf, type Log } from './queries.ts'
import { Actor, Target } from './record-table.tsx'
import { actionWords } from './words.ts'

type RecordSheetProps = {
  log: Log
  record: AuditRecord | null
  onClose: () => void
  onFilter: (changed: { actor?: string; target?: string }) => void
}

/** An audit record: its changes field by field, its hash, and the evidence of its transfer. */
export function RecordSheet({ log, record, onClose, onFilter }: RecordSheetProps) {
  return (
    <Sheet title={record === null ? '' : actionWords(record.action)} open={record !== null} onClose={onClose} wide>
      {record !== null && (
        <>
          <Facts
            facts={[
              [t('When'), formatTimeInFull(record.createdAt)],
              [t('Who'), <Actor key="w" record={record} />],
              [t('Subject'), <Target key="t" log={log} record={record} />],
              [t('Identifier'), record.targetId === null ? null : <span className="code">{record.targetId}</span>],
              [t('Seal'), record.sealSequence ?? t('within seconds')],
              [
                t('SHA-256 of the record'),
                <span key="h" className="code">
                  {record.hash}
                </span>,
              ],
            ]}
          />
          <h3 className="mt-4 mb-2 font-semibold">{t('Content of the record')}</h3>
          <Difference lines={linesOf(record.details)} />
          <div className="mt-4 flex flex-wrap gap-2">
            {record.targetId !== null && (
              <Button
                onClick={() => {
                  onFilter({ target: record.targetId! })
                  onClose()
                }}
              >
                {t('All records of this subject')}
              </Button>
            )}
            {record.actorId !== null && (
              <Button
                onClick={() => {
                  onFilter({ actor: record.actorId! })
                  onClose()
                }}
              >
                {t('All records of this person')}
              </Button>
            )}
            {record.targetType === 'transfer' && record.targetId !== null && log !== 'platform' && (
              <EvidenceButton code={log.code} transferId={record.targetId} />
            )}
          </div>
        </>
      )}
    </Sheet>
  )
}

function Difference({ lines }: { lines: readonly Line[] }) {
  if (lines.length === 0) return <p className="text-quiet">{t('The record has no further details.')}</p>
  const hasBefore = lines.some(({ before }) => before !== undefined)
  const text = (value: string | null | undefined, className: string) =>
    value === undefined || value === null || value === '' ? (
      <span className="text-quiet">–</span>
    ) : (
      <span className={`[overflow-wrap:anywhere] ${className}`}>{value}</span>
    )
  const columns: Column<Line>[] = [
    {
      id: 'path',
      header: t('Field'),
      cell: ({ path }) => <span className="code [overflow-wrap:anywhere]">{path}</span>,
    },
    ...(hasBefore
      ? [{ id: 'before', header: t('Before'), cell: ({ before }: Line) => text(before, 'text-bad line-through') }]
      : []),
    {
      id: 'after',
      header: hasBefore ? t('After') : t('Value'),
      cell: ({ before, after }) => text(after, before === undefined ? '' : 'text-good'),
    },
  ]
  return (
    <SmallTable
      caption={t('Content of the record')}
      columns={columns}
      rows={lines}
      rowKey={({ path, after }) => `${path} ${after}`}
      first={40}
    />
  )
}

/** The file that proves a transfer, which anybody can check on /verify. */
export function EvidenceButton({ code, transferId }: { code: string; transferId: string }) {
  const save = useMutation({
    mutationFn: async () => {
      const evidence = await evidenceOf(code, transferId)
      saveBlob(
        new Blob([JSON.stringify(evidence, null, 2)], { type: 'application/json' }),
        `evidence-${transferId}.json`,
      )
    },
  })
  return (
    <>
      <Button icon={<Download size={16} aria-hidden />} busy={save.isPending} onClick={() => save.mutate()}>
        {t('Download the evidence')}
      </Button>
      {save.isError && <Failed error={save.error} retry={() => save.mutate()} />}
    </>
  )
}
