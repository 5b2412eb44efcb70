import { type RawBuilder, sql } from 'kysely'
import { isAuditor, isEveryone, isHeldUser } from '../../../access/memberships.ts'
import { profileOf } from '../../../access/profile.ts'
import { type Db, prepared, type Trx } from '../../../db/client.ts'
import { insertsOf, withParts } from '../../../db/insert-rows.ts'
import type { Objection } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { shownVotersMax } from '../../../lib/limits.ts'
import { type GroupThreshold, groupThresholdsOf, type Requirement } from '../decisions/decision.ts'
import type { RecordedRequirement } from './compare-approval.ts'
import type { ProfileRow } from './queries.ts'
import { type ApproverRow, placesOf, placesTaken, type RequirementState } from './tally.ts'

/** The requirement of one policy for a subject; for a composite, of the step with this number. */
export type ApprovalRequirement = Requirement & { stepIndex?: number }

/** A requirement with the votes that groups must give. */
type Divided = ApprovalRequirement & { groups: GroupThreshold[] }

const withGroups = (requirement: ApprovalRequirement): Divided => ({
  ...requirement,
  groups: groupThresholdsOf(requirement.approvers),
})

type Request = { vaultId: string; initiatorId: string; requirements: ApprovalRequirement[] }
type Approval = Request & { subjectId: string; now: Date }
type DividedApproval = Omit<Approval, 'requirements'> & { requirements: Divided[] }

/**
 * Stores the requirements of a subject with the entitlements of its voters, in one round trip. Only people and services that are
 * not disabled count; the initiator counts where the policy allows it. Returns the snapshot for the audit record of the request,
 * and the insert of the voters, which the caller makes a part of its statement. The caller refuses a subject with shortages.
 */
export async function openApproval(trx: Trx, approval: Approval): Promise<OpenedApproval> {
  const { vaultId, subjectId, now } = approval
  const requirements = approval.requirements.map(withGroups)
  const eligible = await insertEligibilities(trx, { ...approval, requirements })
  const shortages = shortagesOf(requirements, (requirement) => {
    const groupsOf = groupsOfVoters(requirement, eligible)
    return { count: groupsOf.length, places: placesTaken(requirement.groups, groupsOf) }
  })
  const approvers = toApprovers(eligible, now)
  const keys = { vault_id: vaultId, subject_id: subjectId, created_at: now }
  const voters = approvers.map(({ id, userId }) => ({ ...keys, id, user_id: userId }))
  return {
    snapshot: snapshotOf(requirements, eligible),
    requirements: requirements.map((requirement) => toState(requirement, eligible)).sort(byStep),
    approvers,
    shortages,
    parts: insertsOf({ approval_voters: voters }),
  }
}

const hourMilliseconds = 3_600_000

/** Returns the end of the time for votes on a new request. A signed order names its end. */
export function approvalEnd(now: Date, { approvalTtlHours }: { approvalTtlHours: number }, signedEnd?: string): Date {
  return signedEnd === undefined ? new Date(now.getTime() + approvalTtlHours * hourMilliseconds) : new Date(signedEnd)
}

/** An approval whose requirements are stored, without votes. */
export type OpenedApproval = {
  /** The requirements as the audit record holds them. */
  snapshot: RecordedRequirement[]
  /** The requirements and the approvers as `requirementsOf` and `approversOf` read them. */
  requirements: RequirementState[]
  approvers: ApproverRow[]
  /** The shortages as `findShortages` returns them. */
  shortages: string[]
  /** SQL: the statements that insert its voters. */
  parts: RawBuilder<unknown>[]
}

/** The approval of a request that needs no vote. */
export const unasked: OpenedApproval = { snapshot: [], requirements: [], approvers: [], shortages: [], parts: [] }

function snapshotOf(requirements: Divided[], eligible: Eligibility[]): RecordedRequirement[] {
  return requirements.map((requirement) => {
    const { stepIndex = 0, policyId, policyCode, threshold, bypassed } = requirement
    const entitled = votersOf(requirement, eligible)
    const groups = requirement.groups.map((group) => ({
      ...group,
      voters: entitled.filter((row) => row.group_id === group.groupId).map((row) => row.user_id),
    }))
    const voters = [...new Set(entitled.map((row) => row.user_id))]
    const recorded = { stepIndex, policyId, policyCode, threshold, bypassed, voters }
    return groups.length === 0 ? recorded : { ...recorded, groups }
  })
}

/** Returns the voters, who have not voted, in the order of their ids. */
function toApprovers(eligible: Eligibility[], now: Date): ApproverRow[] {
  const profiles = new Map(eligible.map(({ user_id, profile }) => [user_id, profile]))
  const stepsOf = (userId: string) => eligible.filter((row) => row.user_id === userId).map((row) => row.step_index)
  return [...profiles]
    .map(([userId, user]) => ({
      id: newId(now),
      userId,
      decision: null,
      comment: null,
      votedAt: null,
      createdAt: now.toISOString(),
      stepIndexes: [...new Set(stepsOf(userId))].sort((a, b) => a - b),
      isEntitled: true,
      user,
    }))
    .sort((a, b) => (a.id < b.id ? -1 : 1))
}

function toState(requirement: Divided, eligible: Eligibility[]): RequirementState {
  const { stepIndex = 0, policyId, policyCode, threshold, bypassed } = requirement
  const groupsOf = groupsOfVoters(requirement, eligible)
  const groups = orNull(requirement.groups)
  const counts = { approvalsCount: 0, reachableCount: groupsOf.length, groups }
  const ofGroups = groups === null ? { approvals: null, reachable: null } : { approvals: [], reachable: groupsOf }
  return { stepIndex, policyId, policyCode, threshold, bypassed, ...counts, ...ofGroups }
}

const byStep = (a: RequirementState, b: RequirementState) =>
  a.stepIndex - b.stepIndex || (a.policyId < b.policyId ? -1 : 1)

/** Returns for each voter of a requirement the groups that entitle them. */
function groupsOfVoters(requirement: ApprovalRequirement, eligible: Eligibility[]): string[][] {
  const groupsOf = new Map<string, string[]>()
  for (const { user_id, group_id } of votersOf(requirement, eligible))
    groupsOf.set(user_id, [...(groupsOf.get(user_id) ?? []), group_id])
  return [...groupsOf.values()]
}

const votersOf = ({ stepIndex = 0, policyId }: ApprovalRequirement, eligible: Eligibility[]) =>
  eligible.filter((row) => row.policy_id === policyId && row.step_index === stepIndex)

function toRequirementRows({ vaultId, subjectId, requirements, now }: DividedApproval) {
  return requirements.map((requirement) => ({
    vault_id: vaultId,
    subject_id: subjectId,
    step_index: requirement.stepIndex ?? 0,
    policy_id: requirement.policyId,
    policy_code: requirement.policyCode,
    policy_name: requirement.policyName,
    threshold: requirement.threshold,
    allow_initiator: requirement.allowInitiator,
    bypassed: requirement.bypassed,
    group_thresholds: orNull(requirement.groups),
    created_at: now,
  }))
}

const orNull = (thresholds: GroupThreshold[]) => (thresholds.length === 0 ? null : thresholds)

type Eligibility = { user_id: string; step_index: number; policy_id: string; group_id: string; profile: ProfileRow }

async function insertEligibilities(trx: Trx, approval: DividedApproval): Promise<Eligibility[]> {
  const { vaultId, subjectId } = approval
  const requirements = insertsOf({ approval_requirements: toRequirementRows(approval) })
  const eligible = sql`
    insert into approval_eligibilities (vault_id, subject_id, user_id, step_index, policy_id, group_id)
    select ${vaultId}, ${subjectId}, e.user_id, e.step_index, e.policy_id, e.group_id
    from (${eligibleVoters(approval)}) e
    on conflict do nothing
    returning user_id, step_index, policy_id, group_id`
  const { rows } = await sql<Eligibility>`${prepared} ${withParts([...requirements, eligible])}
    select e.*, ${profileOf('u')} as profile
    from ${sql.ref(`part_${requirements.length}`)} e join users u on u.id = e.user_id`.execute(trx)
  return rows
}

/** SQL: the voters of these requirements with their entitlements; a voter may be in several rows. */
function eligibleVoters({ vaultId, initiatorId, requirements }: Request): RawBuilder<unknown> {
  const sources = requirements
    .filter((requirement) => !requirement.bypassed)
    .flatMap((requirement) =>
      (requirement.approvers ?? [{ kind: 'group' as const, id: requirement.groupId }]).map((source) => ({
        requirement,
        source,
      })),
    )
  return sql`
    select u.id as user_id, s.step_index, s.policy_id, coalesce(s.group_id, '') as group_id
    from unnest(
      ${sources.map(({ requirement }) => requirement.stepIndex ?? 0)}::smallint[],
      ${sources.map(({ requirement }) => requirement.policyId)}::text[],
      ${sources.map(({ source }) => (source.kind === 'user' ? source.id : null))}::text[],
      ${sources.map(({ source }) => (source.kind === 'group' ? source.id : null))}::text[],
      ${sources.map(({ requirement }) => requirement.allowInitiator)}::boolean[],
      ${sources.map(({ requirement }) => requirement.decidedForId ?? initiatorId)}::text[],
      ${sources.map(({ requirement }) => requirement.peopleOnly ?? false)}::boolean[]
    ) as s(step_index, policy_id, user_id, group_id, allow_initiator, decided_for_id, people_only)
    -- The members are looked up first, because the platform may have many more users than the vault.
    cross join lateral (
      select s.user_id as id
      union
      select m.user_id from policy_group_memberships m where m.vault_id = ${vaultId} and m.group_id = s.group_id
      union
      select m.user_id from policy_groups g join policy_group_memberships m on m.vault_id = g.vault_id
      where g.vault_id = ${vaultId} and g.id = s.group_id and ${isEveryone('g')}
    ) named
    join users u on u.id = named.id and u.disabled_at is null
    -- An explicit approver must still be a member of the vault, because only members have access to it.
    where (s.allow_initiator or u.id not in (${initiatorId}, s.decided_for_id)) and not (s.people_only and u.kind <> 'person')
      and not ${isAuditor(sql`${vaultId}::text`, sql`u.id`)} and not ${isHeldUser(sql`${vaultId}::text`, sql`u.id`)}
      and exists (select from policy_group_memberships m where m.vault_id = ${vaultId} and m.user_id = u.id)`
}

/** The electorate of a requirement without voters. */
export const nobody = { count: 0, places: 0 }

/** The people who could vote on a requirement now. `places` is the number of votes of groups that they could give. */
export type Electorate = { count: number; voters: ProfileRow[]; places: number }

/**
 * Returns by policy the voters that `openApproval` would find for these requirements of a step: their number, and the profiles of
 * the first voters. A requirement that is waived or has no voters has no entry.
 */
export async function findElectorates(db: Db | Trx, approval: Request): Promise<Map<string, Electorate>> {
  if (approval.requirements.every(({ bypassed }) => bypassed)) return new Map()
  const { rows } = await sql<Omit<Electorate, 'places'> & { policyId: string }>`${prepared}
    select w.policy_id as "policyId", count(*)::int as count,
      json_agg(w.profile order by w.position) filter (where w.position <= ${shownVotersMax}) as voters
    from (
      select e.policy_id, ${profileOf('u')} as profile, row_number() over (
        partition by e.policy_id order by lower(coalesce(u.name, u.username, u.email)), u.id) as position
      from (select distinct policy_id, user_id from (${eligibleVoters(approval)}) each_way) e
      join users u on u.id = e.user_id
    ) w
    group by w.policy_id`.execute(db)
  const places = await countPlaces(db, approval)
  return new Map(
    rows.map(({ policyId, ...electorate }) => [policyId, { ...electorate, places: places.get(policyId) ?? 0 }]),
  )
}

/** Returns by policy the number of votes of groups that could be given. Most requirements need no votes of groups. */
async function countPlaces(db: Db | Trx, { requirements, ...approval }: Request): Promise<Map<string, number>> {
  const asking = requirements.map(withGroups).filter(({ groups }) => groups.length > 0)
  if (asking.length === 0) return new Map()
  const { rows } = await sql<{ policyId: string; groups: string[][] }>`
    select v.policy_id as "policyId", json_agg(v.groups) as groups from (
      select policy_id, user_id, json_agg(group_id) as groups
      from (${eligibleVoters({ ...approval, requirements: asking })}) e group by policy_id, user_id) v
    group by v.policy_id`.execute(db)
  const groupsOf = new Map(rows.map(({ policyId, groups }) => [policyId, groups]))
  return new Map(asking.map(({ policyId, groups }) => [policyId, placesTaken(groups, groupsOf.get(policyId) ?? [])]))
}

/** Returns a sentence for each requirement that has too few voters, sorted by the code of its policy. */
export const findShortages = (
  requirements: ApprovalRequirement[],
  votersOf: (requirement: ApprovalRequirement) => Pick<Electorate, 'count' | 'places'>,
): string[] => shortagesOf(requirements.map(withGroups), votersOf)

function shortagesOf(
  requirements: Divided[],
  votersOf: (requirement: Divided) => Pick<Electorate, 'count' | 'places'>,
): string[] {
  return requirements
    .filter(({ bypassed }) => !bypassed)
    .sort((a, b) => (a.policyCode < b.policyCode ? -1 : 1))
    .flatMap((requirement) => {
      const { count, places } = votersOf(requirement)
      const { policyCode, threshold } = requirement
      if (count < threshold) return [`Policy ${policyCode} needs ${threshold} approvals, and only ${count} can vote`]
      const needed = placesOf(requirement.groups)
      if (places >= needed) return []
      return [
        `Policy ${policyCode} needs ${needed} approvals of its groups, each of another person, and only ${places} can be given`,
      ]
    })
}

export const objectionsOfShortages = (shortages: string[]): Objection<'quorum_unreachable'>[] =>
  shortages.map((details) => ({ reason: 'quorum_unreachable', message: 'quorum unreachable', details }))
