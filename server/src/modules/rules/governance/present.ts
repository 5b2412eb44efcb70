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
  const { applyAt, resolvedAt, created_at, updatedAt, ...fields } = row
  return {
    ...fields,
    applyAt: applyAt?.toISOString() ?? null,
    resolvedAt: resolvedAt?.toISOString() ?? null,
    createdAt: created_at.toISOString(),
    updatedAt: updatedAt.toISOString(),
  }
}

/** The differences are those that its author and its voters were shown, also after it was applied. */
export function toChangeSet({ before, after, changes, ...row }: FullChangeSetRow): Static<typeof ChangeSet> {
  return { ...toChangeSetListItem(row), changes, differences: differencesOf(before, after) }
}
