import { sql } from 'kysely'
import { administratorsCode, everyoneCode } from '../../../access/memberships.ts'
import type { Trx } from '../../../db/client.ts'
import { type ReplayedRecord, replay } from '../../record/audit/queries.ts'
import type { SubjectDifference, SubjectReport } from '../../record/audit/verify-subjects.ts'

const actions = [
  'vault.created',
  'policy_group.created',
  'policy_group.updated',
  'invitation.accepted',
  'service_token.created',
  'membership.added',
  'membership.removed',
  'member.removed',
  'policy_group.deleted',
] as const

type Group = { id: string; code: string; isSystem: boolean }

type Details = { userId?: string; groupIds?: string[]; groupCodes?: string[]; after?: { code?: string } }

/** A membership according to the audit records; `isUnsure` when the user joined and left at the same time. */
type Membership = { isIn: boolean; at: number; isUnsure: boolean }

/** The groups of a vault and their members according to the audit records. */
class Recorded {
  readonly memberships = new Map<string, Membership>()
  readonly codes = new Map<string, string>()
  readonly faults: SubjectDifference[] = []
  private readonly vaultId: string

  constructor(vaultId: string, systemGroups: Group[]) {
    this.vaultId = vaultId
    for (const { id, code } of systemGroups) this.codes.set(id, code)
  }

  take(record: ReplayedRecord): void {
    const { action, actorId, targetId, details, fault, id } = record
    if (fault !== null) {
      this.faults.push({ vaultId: this.vaultId, targetType: 'audit_record', targetId: id, detail: fault })
      return
    }
    const { userId, groupIds = [], groupCodes = [], after } = details as Details
    if (action === 'vault.created') this.set(this.groupOfCode(administratorsCode), actorId, true, record)
    else if (action.startsWith('policy_group.')) this.takeGroup(action, targetId, after?.code)
    else if (action === 'membership.added') this.set(targetId, userId, true, record)
    else if (action === 'membership.removed') this.set(targetId, userId, false, record)
    else if (action === 'member.removed') {
      // Records of older versions hold the codes of the groups and no ids.
      const left = groupIds.length > 0 ? groupIds : groupCodes.map((code) => this.groupOfCode(code))
      for (const group of left) this.set(group, targetId, false, record)
    } else {
      const joined = action === 'invitation.accepted' ? actorId : userId
      for (const group of groupIds) this.set(group, joined, true, record)
    }
  }

  private takeGroup(action: string, groupId: string, code: string | undefined): void {
    if (action === 'policy_group.deleted') {
      this.codes.delete(groupId)
      for (const key of this.memberships.keys()) {
        if (key.startsWith(`${groupId} `)) this.memberships.delete(key)
      }
    } else if (code !== undefined) this.codes.set(groupId, code)
  }

  private groupOfCode(code: string): string {
    for (const [id, known] of this.codes) if (known === code) return id
    return ''
  }

  private set(groupId: string, userId: string | null | undefined, isIn: boolean, { at }: ReplayedRecord): void {
    const key = `${groupId} ${userId ?? ''}`
    const before = this.memberships.get(key)
    const isUnsure = before !== undefined && before.at === at.getTime() && (before.isUnsure || before.isIn !== isIn)
    this.memberships.set(key, { isIn, at: at.getTime(), isUnsure })
  }
}

/** Compares the groups of a vault and their members with the audit records. */
export async function verifyMemberships(trx: Trx, vaultId: string): Promise<SubjectReport> {
  const { rows: groups } = await sql<Group>`
    select id, code, is_system as "isSystem" from policy_groups where vault_id = ${vaultId} order by id`.execute(trx)
  const { rows: members } = await sql<{ groupId: string; userId: string; code: string }>`
    select m.group_id as "groupId", m.user_id as "userId", g.code from policy_group_memberships m
    join policy_groups g on g.vault_id = m.vault_id and g.id = m.group_id
    where m.vault_id = ${vaultId} order by m.group_id, m.user_id`.execute(trx)
  const recorded = new Recorded(
    vaultId,
    groups.filter(({ isSystem }) => isSystem),
  )
  for await (const record of replay(trx, vaultId, actions)) recorded.take(record)

  const differences = [...recorded.faults]
  const name = (targetType: string, targetId: string, detail: string) =>
    differences.push({ vaultId, targetType, targetId, detail })
  for (const { id, code } of groups) {
    const known = recorded.codes.get(id)
    if (known === undefined) name('policy_group', id, `the group ${code} is in no audit record`)
    else if (known !== code)
      name('policy_group', id, `its code is ${code}, and according to its audit records ${known}`)
  }
  for (const [id, code] of recorded.codes) {
    if (!groups.some((group) => group.id === id)) name('policy_group', id, `the row of the group ${code} is gone`)
  }
  const present = new Set(members.map(({ groupId, userId }) => `${groupId} ${userId}`))
  for (const { groupId, userId, code } of members) {
    const known = recorded.memberships.get(`${groupId} ${userId}`)
    if (known?.isIn !== true && known?.isUnsure !== true) {
      name(
        'membership',
        `${groupId} ${userId}`,
        `${userId} is in the group ${code}, and not according to the audit records`,
      )
    }
  }
  for (const [key, { isIn, isUnsure }] of recorded.memberships) {
    // An invitation to a group that was deleted meanwhile, or to everyone, creates no row.
    const code = recorded.codes.get(key.split(' ')[0]!)
    if (code === undefined || code === everyoneCode) continue
    if (isIn && !isUnsure && !present.has(key)) name('membership', key, 'it is recorded, and its row is gone')
  }
  return { checked: members.length, differences }
}
