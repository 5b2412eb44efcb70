import { open } from 'node:fs/promises'
import { request } from 'undici'
import type { Deps } from '../deps.ts'
import { witnessBackoff, witnessCallTimeoutMilliseconds, witnessMailHoursMin } from '../lib/limits.ts'
import { sha256 } from '../lib/secrets.ts'
import { signatureHeaders } from '../lib/webhook-signature.ts'
import type { Witness } from '../lib/witness.ts'
import { headsMessage } from '../mail/messages.ts'
import { sendMail } from '../mail/send.ts'
import { hasHeads } from '../modules/record/seals/queries.ts'
import { armor, type HeadsStatement, stateHeads } from '../modules/record/witnesses/heads.ts'
import {
  claimWitness,
  type DueWitness,
  keepWitnesses,
  retryWitness,
  settleWitness,
} from '../modules/record/witnesses/witnesses.ts'
import { dispatcherTo } from '../outbound/guarded-connect.ts'
import { type Claims, runClaims } from './run-claims.ts'

const witnesses: Claims<DueWitness> = {
  name: 'witness',
  claim: ({ db, clock }) => claimWitness(db, clock()),
  run: sendToWitness,
  retry: ({ db }, witness, at) => retryWitness(db, witness, at),
  backoff: witnessBackoff,
}

/**
 * Sends the heads of all seal chains to the witnesses that are due, which keep them where the owner of the database cannot change
 * them. Before the first seal there are no heads, and nothing is sent.
 */
export async function sendHeads(deps: Deps, signal?: AbortSignal): Promise<void> {
  // A first statement without heads would prove nothing, and the second statement would be due only an hour later.
  if (!(await hasHeads(deps.db))) return
  const { targets } = deps.config.witnesses
  await keepWitnesses(
    deps.db,
    targets.map(({ target }) => target),
    deps.clock(),
  )
  await runClaims(deps, witnesses, signal)
}

async function sendToWitness(deps: Deps, due: DueWitness, signal?: AbortSignal): Promise<void> {
  const { config, db, clock, sealKey } = deps
  const witness = config.witnesses.targets.find(({ target }) => target === due.target)
  // A node whose settings name the witness claims it when this claim ends.
  if (witness === undefined) return
  const now = clock()
  const statement = await stateHeads(db, { sealKey, origin: deps.publicOrigin(), now })
  await deliver(deps, witness, statement, signal)
  const hours = Math.max(config.witnesses.everyHours, witness.kind === 'mailto' ? witnessMailHoursMin : 0)
  await settleWitness(db, due, now, new Date(now.getTime() + hours * 3_600_000))
}

function deliver(deps: Deps, witness: Witness, statement: HeadsStatement, signal?: AbortSignal): Promise<void> {
  switch (witness.kind) {
    case 'file':
      return append(witness.path, statement)
    case 'mailto':
      return mail(deps, witness.address, statement, signal)
    case 'https':
      return post(deps, witness.url, statement)
  }
}

/** Appends a line to a file. The folder must exist: if its disk is not mounted, the delivery must fail. */
async function append(path: string, statement: HeadsStatement): Promise<void> {
  const file = await open(path, 'a', 0o600)
  try {
    await file.appendFile(`${JSON.stringify(statement)}\n`)
    await file.datasync()
  } finally {
    await file.close()
  }
}

async function mail(deps: Deps, to: string, statement: HeadsStatement, signal?: AbortSignal): Promise<void> {
  const date = new Date(statement.at)
  const { origin, heads } = statement
  const message = headsMessage({ origin, at: date, count: heads.length, block: armor(statement) })
  const isTaken = await sendMail(deps, { id: idOf(statement), date, to, ...message }, signal)
  if (!isTaken) throw new Error(`The mail server refuses mail to ${to}`)
}

const idOf = ({ signature }: HeadsStatement): string => `heads-${sha256(signature).toString('hex').slice(0, 32)}`

async function post({ config, clock }: Deps, url: string, statement: HeadsStatement): Promise<void> {
  const body = JSON.stringify(statement)
  const response = await request(url, {
    method: 'POST',
    dispatcher: dispatcherTo(url, witnessCallTimeoutMilliseconds / 2),
    signal: AbortSignal.timeout(witnessCallTimeoutMilliseconds),
    headers: {
      'content-type': 'application/json',
      ...signatureHeaders(config.witnesses.secrets, idOf(statement), body, clock()),
    },
    body,
  })
  await response.body.dump()
  if (response.statusCode < 200 || response.statusCode > 299) throw new Error(`Answered ${response.statusCode}`)
}
