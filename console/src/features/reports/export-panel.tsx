import type { ReportExport } from '@strongroom/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { useState } from 'react'
import { newIdempotencyKey } from '../../lib/forms.ts'
import { t } from '../../lib/language.ts'
import { saveAnswer } from '../../lib/save-file.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { SelectField } from '../../ui/field.tsx'
import { Failed } from '../../ui/list-states.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { announce } from '../../ui/toast.tsx'
import { downloadExport, exportQuery, type Format, orderExport, type Parameters, readFile } from './queries.ts'
import type { ReportType } from './types.ts'

type ExportProps = { code: string; type: ReportType; parameters: Parameters; disabledBecause: string | null }

/** Exports the report as a file: at once, or in the background with its SHA-256. */
export function ExportButton(props: ExportProps) {
  const [open, setOpen] = useState(false)
  return (
    <>
      <Button
        icon={<Download size={16} aria-hidden />}
        disabledBecause={props.disabledBecause}
        onClick={() => setOpen(true)}
      >
        {t('Export')}
      </Button>
      <Sheet title={t('Export the report')} open={open} onClose={() => setOpen(false)}>
        <ExportForm {...props} />
      </Sheet>
    </>
  )
}

function ExportForm({ code, type, parameters }: ExportProps) {
  const [format, setFormat] = useState<Format>('xlsx')
  // The key of this form's request. A repetition after a lost answer uses the same key, so that only one export is
  // made.
  const [key, setKey] = useState(() => newIdempotencyKey())
  const client = useQueryClient()
  const now = useMutation({
    mutationFn: async () => saveAnswer(await readFile(code, type, parameters, format), `${type}.${format}`),
    onSuccess: () => announce(t('The file is downloaded.')),
  })
  const later = useMutation({
    mutationFn: () => orderExport(code, type, parameters, format, key),
    onSuccess: () => {
      setKey(newIdempotencyKey())
      void client.invalidateQueries({ queryKey: ['reports', code, 'exports'] })
    },
  })
  return (
    <>
      <SelectField
        label={t('Format')}
        value={format}
        onChange={({ target }) => {
          setFormat(target.value as Format)
          setKey(newIdempotencyKey())
        }}
      >
        <option value="xlsx">{t('Excel workbook (XLSX)')}</option>
        <option value="pdf">{t('Document (PDF)')}</option>
        <option value="csv">{t('Tables as text (CSV)')}</option>
      </SelectField>
      <p className="mb-4 text-quiet">
        {t(
          'A direct download takes up to two minutes. In the background there is no time limit, and the SHA-256 of the file is kept.',
        )}
      </p>
      <div className="mb-4 flex flex-wrap gap-2">
        <Button look="primary" busy={now.isPending} onClick={() => now.mutate()}>
          {now.isPending ? t('Making the file …') : t('Download now')}
        </Button>
        <Button busy={later.isPending} onClick={() => later.mutate()}>
          {t('Make the file in the background')}
        </Button>
      </div>
      {now.isError && <Failed error={now.error} retry={() => now.mutate()} />}
      {later.isError && <Failed error={later.error} retry={() => later.mutate()} />}
      {later.data !== undefined && <ExportProgress code={code} id={later.data.id} />}
    </>
  )
}

/** The progress of an export. When it is done, shows the file and its hash. */
function ExportProgress({ code, id }: { code: string; id: string }) {
  const { data, isError, error, refetch } = useQuery(exportQuery(code, id))
  if (isError) return <Failed error={error} retry={() => refetch()} />
  if (data === undefined) return null
  return <ExportState code={code} report={data} />
}

const tones: Record<ReportExport['state'], Tone> = {
  queued: 'waiting',
  running: 'waiting',
  done: 'good',
  failed: 'bad',
  expired: 'neutral',
}

export function ExportState({ code, report }: { code: string; report: ReportExport }) {
  const words = {
    queued: t('Waits for its turn'),
    running: t('Is being made'),
    done: t('Ready'),
    failed: t('Failed'),
    expired: t('Deleted'),
  }
  const save = useMutation({
    mutationFn: async () => saveAnswer(await downloadExport(code, report.id), `${report.type}.${report.format}`),
  })
  return (
    <div role="status">
      <p className="mb-2 flex flex-wrap items-center gap-2">
        <Badge tone={tones[report.state]}>{words[report.state]}</Badge>
        {report.state === 'running' && (
          <progress className="w-40 accent-accent" max={100} value={report.percent} aria-label={t('Progress')} />
        )}
        {report.state === 'done' && (
          <Button busy={save.isPending} icon={<Download size={16} aria-hidden />} onClick={() => save.mutate()}>
            {t('Download')}
          </Button>
        )}
      </p>
      {report.failure !== null && <p className="text-bad">{report.failure}</p>}
      {save.isError && <Failed error={save.error} retry={() => save.mutate()} />}
      {report.sha256 !== null && (
        <p className="text-[0.8125rem] text-quiet">
          SHA-256 <span className="code [overflow-wrap:anywhere]">{report.sha256}</span>
          <CopyButton text={report.sha256} label={t('Copy the hash')} />
        </p>
      )}
    </div>
  )
}
