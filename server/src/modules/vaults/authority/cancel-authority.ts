import { type ByMember, byMember } from '../../../access/caller.ts'
import type { Db, Trx } from '../../../db/client.ts'
import { inTransaction } from '../../../db/transaction.ts'
import type { Deps } from '../../../deps.ts'
import { AppError, badRequest, notFound } from '../../../lib/errors.ts'
import type { SignedVote } from '../../../lib/signed-vote.ts'
import { isRecorded } from '../../record/audit/queries.ts'
import { audit } from '../../record/audit/record.ts'
import { toBadGateway, WalletServiceError } from '../../registry/wallet-service/call.ts'
import { walletOfVault } from '../wallets/wallet-settings.ts'
import { findAuthority } from './authority.ts'

const cancelled = 'vault.authority_cancelled'

/**
 * Hands votes that cancel the waiting version of the authority to the wallet service, which counts them. This service
 * does not count them. A repetition changes nothing and is answered like the first request.
 * @throws 400 for votes on different versions; 403 when the wallet service refuses the votes; 404 when no such version
 *   waits; 502
 */
export async function cancelAuthority(deps: Deps, { member, now }: ByMember, votes: SignedVote[]): Promise<void> {
  const hash = hashOfAll(votes)
  const { vault } = member
  if (await isCancelled(deps.db, vault.id, hash)) return
  const waiting = (await findAuthority(deps, vault.id))?.pending ?? null
  // When no version waits, people may already have cancelled it at the wallet service, which then accepts the same votes again.
  const wallet = waiting === null || waiting.hash === hash ? await walletOfVault(deps, vault.id) : null
  const left = (await wallet?.cancelAuthority(votes).catch(throwRefusal)) ?? null
  if (left === null) throw notFound('Version that waits')
  const cancelled = { hash, votes, version: left.version + 1, inForceAt: waiting?.inForceAt ?? null }
  await inTransaction(deps.db, (trx) => record(trx, { member, now }, cancelled))
}

function hashOfAll(votes: SignedVote[]): string {
  const hashes = new Set(votes.map(({ vote }) => vote.hash))
  if (hashes.size > 1) throw badRequest('votes', 'must all name the same hash')
  return [...hashes].join()
}

function throwRefusal(error: unknown): never {
  if (!(error instanceof WalletServiceError)) throw error
  if (error.kind !== 'refused' || error.code === null) throw toBadGateway(error)
  const message = `The wallet service does not cancel the version with these votes: ${error.code}`
  throw new AppError('votes_refused', message, { details: error.code, cause: error })
}

type Cancelled = { hash: string; votes: SignedVote[]; version: number; inForceAt: string | null }

async function record(trx: Trx, by: ByMember, { votes, hash, version, inForceAt }: Cancelled): Promise<void> {
  const persons = [...new Set(votes.map(({ vote }) => vote.person))]
  const target = { type: 'vault', id: by.member.vault.id }
  await audit(trx, byMember(by), cancelled, target, { version, hash, inForceAt, persons })
}

const isCancelled = (db: Db, vaultId: string, hash: string): Promise<boolean> =>
  isRecorded(db, vaultId, { action: cancelled, targetId: vaultId, hash })
