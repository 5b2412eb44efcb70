import {
  type Check,
  type CheckedVote,
  type CheckName,
  type Evidence,
  type Field,
  readEvidence,
  type Verdict,
  verifyEvidence,
} from '@strongroom/sdk/evidence'
import { ShieldCheck } from 'lucide-react'
import { type DragEvent, type ReactNode, useState } from 'react'
import { formatAmount } from '../../lib/amounts.ts'
import { canHash } from '../../lib/hashes.ts'
import { t } from '../../lib/language.ts'
import { formatTime } from '../../lib/time.ts'
import { Address } from '../../ui/address.tsx'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { buttonClass } from '../../ui/button.tsx'
import { Fingerprint } from '../../ui/fingerprint.tsx'
import { Card, Facts, Page } from '../../ui/page.tsx'

type Result = { name: string; evidence: Evidence | null } & Verdict

/** Checks evidence files in this browser. Nothing is sent anywhere, and no session is needed. */
export function VerifyPage() {
  const [results, setResults] = useState<Result[]>([])
  const [isOver, setOver] = useState(false)
  const take = async (files: FileList | null) => {
    const found: Result[] = []
    for (const file of files ?? []) {
      const evidence = readEvidence(await file.text())
      const verdict = evidence === null ? { checks: [], votes: [], fields: [] } : await verifyEvidence(evidence)
      found.push({ name: file.name, evidence, ...verdict })
    }
    setResults(found)
  }
  const dropped = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    void take(event.dataTransfer.files)
  }
  return (
    <Page title={t('Verify evidence')}>
      <p className="mb-4 text-quiet">
        {t(
          'Checks the evidence of a transfer in this browser: the file is sent nowhere, and the service is not asked.',
        )}
      </p>
      {canHash() ? (
        // biome-ignore lint/a11y/noStaticElementInteractions: dropping is the second way; the field below is the first.
        <div
          className={`mb-4 grid justify-items-center gap-3 rounded-lg border-2 border-dashed p-8 text-center ${
            isOver ? 'border-accent bg-accent-soft' : 'border-line bg-paper'
          }`}
          onDragOver={(event) => {
            event.preventDefault()
            setOver(true)
          }}
          onDragLeave={() => setOver(false)}
          onDrop={dropped}
        >
          <ShieldCheck size={32} className="text-quiet" aria-hidden />
          <p>{t('Drop evidence files here')}</p>
          <label className={`${buttonClass('primary')} focus-within:outline-2 focus-within:outline-offset-2`}>
            {t('Choose files')}
            <input
              type="file"
              accept="application/json,.json"
              multiple
              className="sr-only"
              onChange={({ target }) => take(target.files)}
            />
          </label>
        </div>
      ) : (
        <p className="text-bad">{t('The browser computes hashes on pages that came by HTTPS only.')}</p>
      )}
      <div aria-live="polite">
        {results.map((result) => (
          <ResultCard key={result.name} result={result} />
        ))}
      </div>
    </Page>
  )
}

function ResultCard({ result: { name, evidence, checks, votes, fields } }: { result: Result }) {
  if (evidence === null) {
    return (
      <Card title={name}>
        <p className="flex flex-wrap items-center gap-2">
          <Badge tone="bad">{t('No evidence')}</Badge>
          {t('This file is not the evidence of a transfer, or has another version.')}
        </p>
      </Card>
    )
  }
  return (
    <Card title={name}>
      <Headline checks={checks} fields={fields} />
      <Order evidence={evidence} fields={fields} />
      <h3 className="mt-4 mb-2 font-semibold">{t('What was checked')}</h3>
      <ul className="grid gap-3">
        {checks.map((check) => (
          <CheckLine key={check.name} check={check} />
        ))}
      </ul>
      <Signatures votes={votes} names={namesIn(evidence)} />
      <Unproven fields={fields} />
      <Heads evidence={evidence} />
    </Card>
  )
}

type FieldsProps = { fields: readonly Field[] }

/** The headline states the numbers of compared values and claims nothing beyond them. */
function Headline({ checks, fields }: FieldsProps & { checks: readonly Check[] }) {
  const count = (state: Field['state']) => fields.filter((field) => field.state === state).length
  const [proven, unproven, contradicted] = [count('proven'), count('unproven'), count('contradicted')]
  // A file seldom contains neighbouring seals, and does not need them: the log of the vault has the others.
  const isOpen = checks.some(({ name, state }) => state === 'open' && name !== 'chain')
  if (checks.some(({ state }) => state === 'fails')) {
    return (
      <p className="mb-4 flex flex-wrap items-center gap-2 text-lg">
        <Badge tone="bad">{t('The file contradicts itself')}</Badge>
        <span>
          {t('{contradicted, plural, one {# value is contradicted} other {# values are contradicted}}', {
            contradicted,
          })}
        </span>
      </p>
    )
  }
  return (
    <p className="mb-4 flex flex-wrap items-center gap-2 text-lg">
      <Badge tone={isOpen ? 'warn' : 'good'}>
        {isOpen ? t('Nothing contradicts the file, but not everything is proved') : t('Nothing contradicts the file')}
      </Badge>
      <span>
        {t('{proven, plural, one {# value proven} other {# values proven}}, {unproven} not proven by this file', {
          proven,
          unproven,
        })}
      </span>
    </p>
  )
}

/** The transfer as people read it, with a mark at each value that the file does not prove. */
function Order({ evidence: { payloadHash, transfer, decision }, fields }: FieldsProps & { evidence: Evidence }) {
  const states = new Map(fields.map(({ path, state }) => [path, state]))
  const value = (path: string) =>
    path.split('.').reduce<unknown>((at, name) => (at as Record<string, unknown> | null)?.[name], transfer)
  const marked = (path: string, show: (text: string) => ReactNode = (text) => text) => {
    const text = value(path)
    if (typeof text !== 'string') return null
    return (
      <span key={path}>
        {shown(text, show)} <Mark state={states.get(`transfer.${path}`)} />
      </span>
    )
  }
  const { token } = (decision.facts ?? {}) as { token?: { code?: unknown } }
  const code = typeof token?.code === 'string' ? token.code : ''
  return (
    <Facts
      facts={[
        [t('Transfer'), marked('id')],
        [t('Amount'), marked('amountDecimal', (text) => `${formatAmount(text)} ${code}`)],
        [t('From'), marked('fromAddress.address', (text) => <Address address={text} />)],
        [t('To'), marked('toAddress', (text) => <Address address={text} />)],
        [t('Network'), marked('network')],
        [t('Status'), marked('status')],
        [t('Ordered'), marked('createdAt', formatTime)],
        [t('Confirmed'), marked('confirmedAt', formatTime)],
        [t('Transaction'), marked('txHash', (text) => <span className="code">{text}</span>)],
        [t('Value in USD'), marked('usdValue', formatAmount)],
        [t('Purpose'), marked('metadata.paymentPurpose')],
        [t('Policy'), marked('decisionPolicyName')],
        [
          t('Hash of the order'),
          <span key="h" className="code">
            {payloadHash}
          </span>,
        ],
      ]}
    />
  )
}

/** Formats a text. The file may come from a stranger, so a text that is not an amount or a time is shown unchanged. */
function shown(text: string, show: (text: string) => ReactNode): ReactNode {
  try {
    return show(text)
  } catch {
    return text
  }
}

function Mark({ state }: { state: Field['state'] | undefined }) {
  if (state === 'contradicted') return <span className="text-bad">({t('contradicted')})</span>
  return state === 'proven' ? null : <span className="text-quiet">({t('not proven by this file')})</span>
}

/** The values that the file does not prove, by their names in it. */
function Unproven({ fields }: FieldsProps) {
  const paths = fields.filter(({ state }) => state === 'unproven').map(({ path }) => path)
  if (paths.length === 0) return null
  return (
    <details className="mt-4">
      <summary className="cursor-pointer font-semibold">
        {t('{count, plural, one {# value} other {# values}} not proven by this file', { count: paths.length })}
      </summary>
      <p className="my-2 text-quiet">
        {t(
          'No sealed record contains these values: current names, states at the time of the download, and numbers of the database. A file also does not show what was left out of it.',
        )}
      </p>
      <ul className="code grid gap-1">
        {paths.map((path) => (
          <li key={path} className="[overflow-wrap:anywhere]">
            {path}
          </li>
        ))}
      </ul>
    </details>
  )
}

const tones: Record<Check['state'], Tone> = { holds: 'good', fails: 'bad', open: 'warn' }

function CheckLine({ check: { name, state, faults } }: { check: Check }) {
  const words = { holds: t('Holds'), fails: t('Fails'), open: t('Open') }
  return (
    <li className="flex gap-3">
      <span className="w-20 shrink-0">
        <Badge tone={tones[state]}>{words[state]}</Badge>
      </span>
      <span className="min-w-0">
        {checkWords(name)}
        {state === 'open' && <span className="block text-quiet">{openWords(name)}</span>}
        {faults.map((fault) => (
          <span key={fault} className="code block text-bad [overflow-wrap:anywhere]">
            {fault}
          </span>
        ))}
      </span>
    </li>
  )
}

function checkWords(name: CheckName): string {
  const words: Record<CheckName, string> = {
    order: t('The hash of the order matches its content.'),
    shown: t('The values shown for the transfer do not contradict the records.'),
    decision: t('The decision, with its policies and thresholds, is the recorded decision.'),
    facts: t('The facts on which the policies decided are the recorded facts.'),
    records: t('Each record has the hash of its content.'),
    votes: t('Each vote names the hash of this order.'),
    quorum: t('Each policy got the votes that it required, from people who may vote.'),
    signatures: t('Each vote is signed for this order by the key beside it, and no vote is missing.'),
    seals: t('Each seal has the hash of its content.'),
    sealed: t('Each record is in the seal that it names.'),
    chain: t('Consecutive seals are linked.'),
    ledger: t('The books moved the amount of the order.'),
    entries: t('Each entry of the ledger is in the seal that it names.'),
  }
  return words[name]
}

function openWords(name: CheckName): string {
  if (name === 'quorum') return t('The transfer still waits, or ended before it had all votes.')
  if (name === 'chain') return t('The file has no two consecutive seals.')
  if (name === 'facts') return t('The file has no facts or no hash of them.')
  if (name === 'decision') return t('The record was written before decisions had hashes.')
  if (name === 'seals') return t('A seal is not signed, or this browser cannot check its key.')
  if (name === 'signatures') return t('This browser cannot check a key of this kind.')
  return t('The newest records get their seal within seconds: download the file again.')
}

/**
 * Returns the names of people in the file by the ids that they signed. The file may come from a stranger, so a name may
 * hold any value.
 */
function namesIn({ transfer: { initiator, approvers } }: Evidence): ReadonlyMap<unknown, string> {
  const voters = Array.isArray(approvers) ? approvers.map((approver) => approver?.user) : []
  const people = [initiator, ...voters] as ({ id?: unknown; name?: unknown } | null | undefined)[]
  return new Map(people.map((person) => [person?.id, typeof person?.name === 'string' ? person.name : '']))
}

type SignaturesProps = { votes: CheckedVote[]; names: ReadonlyMap<unknown, string> }

/** The signatures and their keys. People compare each key with the key that its owner or the wallet service shows. */
function Signatures({ votes, names }: SignaturesProps) {
  if (votes.length === 0) return null
  return (
    <>
      <h3 className="mt-4 mb-2 font-semibold">{t('Signatures')}</h3>
      <p className="mb-2 text-quiet">
        {t(
          'Compare each fingerprint with what the owner of the key sees, or with the authority of the wallet service.',
        )}
      </p>
      <ul className="grid gap-3">
        {votes.map((vote, index) => (
          <SignatureLine key={index} vote={vote} name={names.get(vote.person)} />
        ))}
      </ul>
    </>
  )
}

type SignatureLineProps = { vote: CheckedVote; name: string | undefined }

function SignatureLine({ vote: { state, decision, person, fingerprint, origin, faults }, name }: SignatureLineProps) {
  const words = { holds: t('Valid'), fails: t('Fails'), open: t('Open') }
  const decisions: Record<string, string> = { initiate: t('Ordered'), approve: t('Approved'), reject: t('Rejected') }
  const wrong = {
    invalid: t('The signature is not valid.'),
    'other-hash': t('The vote is for another order.'),
    'other-subject': t('The vote is for something else.'),
    'other-key': t('The key is not among the named keys.'),
  }
  return (
    <li className="flex gap-3">
      <span className="w-20 shrink-0">
        <Badge tone={tones[state]}>{words[state]}</Badge>
      </span>
      <span className="min-w-0">
        {decisions[decision] ?? decision} {name} <span className="code [overflow-wrap:anywhere]">{person}</span>
        <Fingerprint hash={fingerprint} />
        {origin !== null && <span className="block text-quiet">{origin}</span>}
        {faults.map((fault) => (
          <span key={fault} className="block text-bad">
            {wrong[fault]}
          </span>
        ))}
      </span>
    </li>
  )
}

/**
 * The heads of the chains. The file only proves that it agrees with itself. A head that was noted down proves that the
 * file is of that time.
 */
function Heads({ evidence: { seals } }: { evidence: Evidence }) {
  if (seals.length === 0) return null
  return (
    <>
      <h3 className="mt-4 mb-2 font-semibold">{t('Seals to compare')}</h3>
      <p className="mb-2 text-quiet">
        {t(
          'Compare these values with the log of the vault or with your own notes: somebody could have invented the whole file.',
        )}
      </p>
      <ul className="grid gap-1">
        {seals.map(({ sequence, hash }) => (
          <li key={sequence} className="[overflow-wrap:anywhere]">
            {sequence} <span className="code">{hash}</span>
          </li>
        ))}
      </ul>
    </>
  )
}
