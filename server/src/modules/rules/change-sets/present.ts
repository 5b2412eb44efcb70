import type { Static } from 'typebox'
import { differencesOf } from '../rules-versions/difference.ts'
import type { ChangeSetRow, FullChangeSetRow } from './queries.ts'
import type { ChangeSet, ChangeSetListItem } from './schema.ts'

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

/** Presents a change set with the differences that its author and voters were shown, also after it was applied. */
export function toChangeSet({ before, after, changes, ...row }: FullChangeSetRow): Static<typeof ChangeSet> {
  return { ...toChangeSetListItem(row), changes, differences: differencesOf(before, after) }
}
