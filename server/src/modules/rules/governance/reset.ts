import { sql } from 'kysely'
import { isEveryone } from '../../../access/memberships.ts'
import type { Trx } from '../../../db/client.ts'
import { announceVaultChange } from '../../record/notifications/announce.ts'
import { endOutdated } from '../change-sets/apply.ts'
import { listElectorate, type Voter } from '../change-sets/quorum.ts'
import type { GovernanceSettings } from '../rules-versions/document-schema.ts'
import { readGovernance } from '../rules-versions/read-governance.ts'
import { lockRules, publishRules } from '../rules-versions/versions.ts'

type Reset = {
  code: string
  reason: string
  operator: string
  /** Addresses of disabled people who will not come back. */
  gone?: readonly string[]
  now: Date
}

/**
 * Lowers the threshold of a vault to a number of votes that the remaining voters can reach. An operator of the service does this when
 * too few voters are left, because nobody in the vault can then change the rules. Every member gets a mail. Change sets that wait
 * for votes or for their time become stale.
 * @throws when there is no such vault, it has no governance, its quorum is not lost or would be reached without holds and
 *   disabled users, or one person alone would be in charge
 */
export async function resetGovernance(
  trx: Trx,
  { code, reason, operator, gone = [], now }: Reset,
): Promise<GovernanceSettings> {
  const { rows } = await sql<{ id: string; everyoneId: string }>`
    select v.id, g.id as "everyoneId" from vaults v join policy_groups g on g.vault_id = v.id and ${isEveryone('g')}
    where v.code = ${code}`.execute(trx)
  const [vault] = rows
  if (vault === undefined) throw new Error(`There is no vault ${JSON.stringify(code)}`)
  await lockRules(trx, vault.id, now)
  const before = await readGovernance(trx, vault.id)
  if (before.threshold === 0) throw new Error(`The vault ${code} has no governance`)
  const after = { ...before, ...(await reachable(trx, vault.id, before, gone)) }
  await sql`
    update governance set threshold = ${after.threshold}, approver_group_id = ${after.approverGroupId}, updated_at = ${now}
    where vault_id = ${vault.id}`.execute(trx)
  const { number } = await publishRules(trx, vault.id, { actorId: null, now })
  await endOutdated(trx, vault.id, { number, exceptId: null, now })
  await announceVaultChange(
    trx,
    {
      vaultId: vault.id,
      actorId: null,
      action: 'governance.reset',
      targetType: 'vault',
      targetId: vault.id,
      details: { before, after, reason, operator, gone: [...gone] },
      words: {
        sentence: 'An operator of the service lowered the number of people who must agree to changes of the rules',
        before: { threshold: before.threshold },
        after: { threshold: after.threshold, reason, operator },
      },
      now,
    },
    { groupIds: [vault.everyoneId] },
  )
  return after
}

type Quorum = Pick<GovernanceSettings, 'threshold' | 'approverGroupId'>

/** Returns the highest threshold that the group that votes can reach or, if it can reach none, the administrators. @throws */
async function reachable(trx: Trx, vaultId: string, before: Quorum, gone: readonly string[]): Promise<Quorum> {
  const voters = await listElectorate(trx, vaultId, before.approverGroupId)
  assertLost(voters, before.threshold, gone)
  const groups = before.approverGroupId === null ? [null] : [before.approverGroupId, null]
  for (const approverGroupId of groups) {
    const active = (await listElectorate(trx, vaultId, approverGroupId)).filter(({ isAble }) => isAble)
    const threshold = Math.min(before.threshold, active.length - 1)
    if (threshold >= 1) return { threshold, approverGroupId }
  }
  throw new Error(
    'One person alone would be in charge: first enable another voter, or release the hold on another voter',
  )
}

/** @throws when the quorum can be reached, or could be reached with voters who are held, or disabled and not declared gone */
function assertLost(voters: Voter[], threshold: number, gone: readonly string[]): void {
  const active = voters.filter(({ isAble }) => isAble)
  if (active.length > threshold) throw new Error(`The quorum is not lost: ${active.length} people can vote`)
  const hindered = voters.filter(({ isAble, isHeld, email }) => !isAble && (isHeld || !gone.includes(email ?? '')))
  if (active.length + hindered.length <= threshold) return
  const names = hindered
    .map(({ email, userId, isHeld }) => `${email ?? userId} (${isHeld ? 'held' : 'disabled'})`)
    .join(', ')
  throw new Error(
    `The quorum is there as soon as these can vote again: ${names}. Release a hold with "strongroom holds release", enable a ` +
      'user with "strongroom admin enable", or name with --gone who is disabled and will not come back',
  )
}
