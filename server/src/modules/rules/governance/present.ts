import type { Static } from 'typebox'
import type { WithheldTokenRow } from '../../registry/tokens/withheld.ts'
import { differencesOf } from './difference.ts'
import { directionOf } from './direction.ts'
import type { ChangeSetRow, FullChangeSetRow } from './queries.ts'
import type { ChangeSet, ChangeSetListItem, RulesDifference, RulesVersion, RulesVersionListItem } from './schema.ts'
import type { FullVersionRow, VersionRow } from './versions.ts'

export function toVersionListItem(row: VersionRow): Static<typeof RulesVersionListItem> {
  const { number, authorId, author, changeSetId, direction } = row
  const createdAt = row.created_at.toISOString()
  return { number, hash: row.hash.toString('hex'), authorId, author, changeSetId, direction, createdAt }
}

export function toVersion(row: FullVersionRow): Static<typeof RulesVersion> {
  return { ...toVersionListItem(row), document: row.document }
}

export function toDifference(from: FullVersionRow, to: FullVersionRow): Static<typeof RulesDifference> {
  return {
    from: from.number,
    to: to.number,
    direction: directionOf(from.document, to.document),
    differences: differencesOf(from.document, to.document),
  }
}

export function toWithheldToken({ createdAt, ...token }: WithheldTokenRow) {
  return { ...token, createdAt: createdAt.toISOString() }
}

export function toChangeSetListItem(row: ChangeSetRow): Static<typeof ChangeSetListItem> {
  return {
    id: row.id,
    vaultId: row.vault_id,
    title: row.title,
    status: row.status,
    isDirect: row.isDirect,
    authorId: row.authorId,
    author: row.author,
    baseVersion: row.baseVersion,
    newestVersion: row.newestVersion,
    direction: row.direction,
    changeCount: row.changeCount,
    requestId: row.requestId,
    applyAt: row.applyAt?.toISOString() ?? null,
    appliedVersion: row.appliedVersion,
    failureReason: row.failureReason,
    resolvedById: row.resolvedById,
    resolvedBy: row.resolvedBy,
    resolvedAt: row.resolvedAt?.toISOString() ?? null,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  }
}

/** The differences are those that its author and its voters were shown, also after it was applied. */
export function toChangeSet(row: FullChangeSetRow): Static<typeof ChangeSet> {
  return {
    ...toChangeSetListItem(row),
    changes: row.changes,
    differences: differencesOf(row.before, row.after),
  }
}
