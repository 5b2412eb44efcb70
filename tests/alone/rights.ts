import { sql } from 'kysely'
import { isAddressInScope, isTransferAllowed, visibleScopeOf } from '../../server/src/access/address-scope.ts'
import { findMemberById } from '../../server/src/access/authenticate.ts'
import type { Db } from '../../server/src/db/client.ts'
import { listCategories } from '../../server/src/modules/operations/categories/queries.ts'
import { rightsOf } from '../../server/src/modules/operations/categories/rights.ts'

/**
 * The rights of everybody, as a set of sentences: an act that adds a sentence has given somebody a right. What the people of `alone`
 * own is theirs to share, and what is newer than `since` gives nobody what they had not.
 */
export async function rightsIn(db: Db, vaultId: string, alone: readonly string[], since: Date): Promise<Set<string>> {
  const rights = new Set<string>()
  const say = (...words: unknown[]) => rights.add(words.join(' '))
  const { rows } = await sql<{ words: string }>`
    select 'enabled ' || id as words from users where disabled_at is null
    union all select 'platform ' || id from users where is_platform_admin and disabled_at is null
    union all select 'member ' || user_id || ' ' || group_id from policy_group_memberships where vault_id = ${vaultId}
    union all select 'invited ' || i.email || ' ' || g.group_id from invitations i join invitation_groups g
      on g.vault_id = i.vault_id and g.invitation_id = i.id where i.vault_id = ${vaultId} and i.status = 'pending'
    union all select 'wallet ' || wallet_service_url || ' ' || coalesce(encode(substr(wallet_service_secret, 10, 8), 'hex'), '')
      || ' ' || coalesce(encode(substr(wallet_webhook_secret, 10, 8), 'hex'), '') || ' ' || protection from vaults where id = ${vaultId}
    union all select 'governance ' || (to_jsonb(g) - 'updated_at')::text from governance g where vault_id = ${vaultId}
    union all select 'key ' || id from service_keys where vault_id = ${vaultId} and revoked_at is null
    union all select 'passkey ' || user_id || ' ' || id from passkeys where not user_id = any(${alone})
    union all select 'token ' || t.id || ' ' || t.symbol || ' ' || t.name || ' ' || coalesce(t.dust_limit, 0) from tokens t
      where t.created_at < ${since}
    union all select 'usable ' || t.id from tokens t join vault_networks n on n.network_id = t.network_id
      where n.vault_id = ${vaultId} and t.enabled and not exists (
        select from withheld_tokens w where w.vault_id = ${vaultId} and w.token_id = t.id)
    union all select 'unheld ' || h.id from holds h where h.vault_id = ${vaultId} and h.released_at is not null
    union all select 'named ' || id || ' ' || name || ' ' || code from policy_groups where vault_id = ${vaultId} and created_at < ${since}
    union all select 'shown ' || category_id || ' ' || key from category_fields where vault_id = ${vaultId} and not sensitive
      and created_at < ${since}`.execute(db)
  for (const { words } of rows) rights.add(words)
  const { rows: people } = await sql<{ id: string }>`
    select distinct user_id as id from policy_group_memberships where vault_id = ${vaultId}`.execute(db)
  const categories = await listCategories(db, vaultId, { archived: null, appliesTo: null, after: null, limit: 100 })
  for (const { id } of people) {
    const member = await findMemberById(db, vaultId, id)
    if (member === null) continue
    const scope = visibleScopeOf(member)
    const seen = await sql<{ id: string; pays: boolean }>`
      select a.id, ${isTransferAllowed(scope, 'a')} as pays from addresses a
      where ${isAddressInScope(scope, 'a')} and not a.owner_id = any(${alone})`.execute(db)
    for (const address of seen.rows) {
      say('sees', id, address.id)
      if (address.pays) say('pays', id, address.id)
    }
    const subjects = [`user:${id}`, ...member.groupIds.map((groupId) => `group:${groupId}`)]
    for (const category of categories.filter(({ created_at }) => created_at < since)) {
      for (const isOwnOperation of [true, false]) {
        const may = rightsOf(category, { readsAll: member.readsAll, isOwnOperation, subjects })
        for (const [right, has] of Object.entries(may)) if (has) say(right, isOwnOperation, id, category.id)
      }
    }
  }
  return rights
}
