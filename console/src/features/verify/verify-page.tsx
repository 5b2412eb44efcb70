import { ShieldCheck } from 'lucide-react'
import { type DragEvent, useState } from 'react'
import { formatAmount } from '../../lib/amounts.ts'
import { canHash } from '../../lib/hashes.ts'
import { t } from '../../lib/language.ts'
import { formatTime } from '../../lib/time.ts'
import { Address } from '../../ui/address.tsx'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { buttonClass } from '../../ui/button.tsx'
import { Fingerprint } from '../../ui/fingerprint.tsx'
import { Card, Facts, Page } from '../../ui/page.tsx'
import { type Check, type CheckName, type Evidence, readEvidence, type Verdict, verifyEvidence } from './evidence.ts'
import type { CheckedVote } from './signatures.ts'

type Result = { name: string; evidence: Evidence | null } & Verdict

/** Checks evidence files in this browser. Nothing is sent anywhere, and nobody has to be signed in. */
export function VerifyPage() {
  const [results, setResults] = useState<Result[]>([])
  const [isOver, setOver] = useState(false)
  const take = async (files: FileList | null) => {
    const found: Result[] = []
    for (const file of files ?? []) {
      const evidence = readEvidence(await file.text())
      const verdict = evidence === null ? { checks: [], votes: [] } : await verifyEvidence(evidence)
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
        {t('Checks the evidence of a transfer in this browser: the file goes nowhere, and the service is not asked.')}
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

function ResultCard({ result: { name, evidence, checks, votes } }: { result: Result }) {
  if (evidence === null) {
    return (
      <Card title={name}>
        <p className="flex flex-wrap items-center gap-2">
          <Badge tone="bad">{t('No evidence')}</Badge>
          {t('This file is no evidence of a transfer, or of another version.')}
        </p>
      </Card>
    )
  }
  const fails = checks.filter(({ state }) => state === 'fails').length
  // A file seldom has neighbouring seals, and needs none: the log of the vault has the others.
  const open = checks.filter(({ name: check, state }) => state === 'open' && check !== 'chain').length
  return (
    <Card title={name}>
      <p className="mb-4 text-lg">
        {fails > 0 ? (
          <Badge tone="bad">{t('The file contradicts itself')}</Badge>
        ) : open > 0 ? (
          <Badge tone="warn">{t('Nothing contradicts it, and not everything is proved')}</Badge>
        ) : (
          <Badge tone="good">{t('Everything holds')}</Badge>
        )}
      </p>
      <Order evidence={evidence} />
      <h3 className="mt-4 mb-2 font-semibold">{t('What was checked')}</h3>
      <ul className="grid gap-3">
        {checks.map((check) => (
          <CheckLine key={check.name} check={check} />
        ))}
      </ul>
      <Signatures votes={votes} names={namesIn(evidence)} />
      <Heads evidence={evidence} />
    </Card>
  )
}

/** The order as it was voted on: from the payload, whose hash the votes name, and not from what is shown beside it. */
function Order({ evidence: { payload, payloadHash, transfer, decision } }: { evidence: Evidence }) {
  const text = (value: unknown) => (typeof value === 'string' ? value : null)
  const { amount: decimal } = (decision?.facts ?? {}) as { amount?: unknown }
  const amount =
    typeof decimal === 'string'
      ? `${formatAmount(decimal)} ${transfer.assetSymbol}`
      : text(payload.amount)
        ? `${formatAmount(String(transfer.amountDecimal))} ${transfer.assetSymbol}`
        : text(payload.amount)
  return (
    <Facts
      facts={[
        [t('Transfer'), text(payload.transferId)],
        [t('Amount'), amount],
        [
          t('From'),
          text(payload.fromAddress) === null ? null : <Address key="f" address={String(payload.fromAddress)} />,
        ],
        [t('To'), text(payload.toAddress) === null ? null : <Address key="t" address={String(payload.toAddress)} />],
        [t('Network'), text(payload.network)],
        [t('Ordered'), typeof transfer.createdAt === 'string' ? formatTime(transfer.createdAt) : null],
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
    order: t('The hash of the order is that of what was ordered.'),
    shown: t('What is shown of the transfer is what was ordered.'),
    facts: t('The facts on which the policies decided are those on record.'),
    records: t('Each record has the hash of its content.'),
    votes: t('Each vote names the hash of this order.'),
    quorum: t('Each policy got the votes that it asked for, from people who may vote.'),
    signatures: t('Each vote is signed by the key beside it, for this order, and none is missing.'),
    seals: t('Each seal has the hash of what it holds.'),
    sealed: t('Each record is in the seal that it names.'),
    chain: t('Seals that follow each other are linked.'),
    ledger: t('The books moved the amount of the order.'),
  }
  return words[name]
}

function openWords(name: CheckName): string {
  if (name === 'quorum') return t('The transfer still waits, or ended before it had all votes.')
  if (name === 'chain') return t('The file has no two seals that follow each other.')
  if (name === 'facts') return t('The file has no facts or no hash of them.')
  if (name === 'signatures') return t('This browser cannot check a key of this kind.')
  return t('The newest records get their seal within seconds: download the file again.')
}

/** How the file calls people, beside the ids that they signed. It is a stranger's, so anything may stand there. */
function namesIn({ transfer: { initiator, approvers } }: Evidence): ReadonlyMap<unknown, string> {
  const voters = Array.isArray(approvers) ? approvers.map((each) => each?.user) : []
  const people = [initiator, ...voters] as ({ id?: unknown; name?: unknown } | null | undefined)[]
  return new Map(people.map((person) => [person?.id, typeof person?.name === 'string' ? person.name : '']))
}

type SignaturesProps = { votes: CheckedVote[]; names: ReadonlyMap<unknown, string> }

/** Who signed, by their keys: whose a key is, the people compare with what its owner or the wallet service shows. */
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
    'other-hash': t('It is for another order.'),
    'other-subject': t('It is for something else.'),
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

/** A file proves that it agrees with itself; the head that was noted down proves that it is the one of that time. */
function Heads({ evidence: { seals } }: { evidence: Evidence }) {
  if (seals.length === 0) return null
  return (
    <>
      <h3 className="mt-4 mb-2 font-semibold">{t('Seals to compare')}</h3>
      <p className="mb-2 text-quiet">
        {t(
          'Compare these with what the log of the vault or your own notes say: a whole file could have been invented.',
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
