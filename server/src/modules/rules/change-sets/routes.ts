import type { Member } from '../../../access/caller.ts'
import type { Db, Trx } from '../../../db/client.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { accepted } from '../../../http/mutate.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { readRequest } from '../approval-requests/gate.ts'
import { WaitingAction } from '../approval-requests/schema.ts'
import { assertSteppedUp } from '../approval-requests/step-up.ts'
import { prefetching } from '../approval-requests/steps.ts'
import { assertReadsRules, readersOfRules as readers, readsRules } from '../rules-versions/readers.ts'
import { versionParams } from '../rules-versions/schema.ts'
import { findVersion } from '../rules-versions/versions.ts'
import {
  cancelChangeSet,
  changesBetween,
  createChangeSet,
  rebaseChangeSet,
  submitChangeSet,
  updateChangeSet,
} from './actions.ts'
import type { Engine } from './apply.ts'
import type { Change } from './governed-actions.ts'
import { toChangeSet, toChangeSetListItem } from './present.ts'
import { findChangeSet, listChangeSets } from './queries.ts'
import { ChangeSet, ChangeSetDraft, ChangeSetListItem, ChangeSetQuery } from './schema.ts'

/** The errors that trying a change can return. */
const changeErrors = [
  'administrator_required',
  'already_exists',
  'archived',
  'category_field_link',
  'in_use',
  'last_administrator',
  'limit_reached',
  'not_permitted',
  'quorum_unreachable',
  'route_is_dynamic',
  'system_object',
  'transfers_in_flight',
  'vault_is_locked',
  'changed_concurrently',
  'wallet_differs',
  'wallet_service_failed',
  'wallet_service_silent',
  'wrong_state',
] as const

export function changeSetRoutes(app: App, engine: Engine): void {
  const { deps, governed } = engine
  const api = endpoints(app, deps, 'Governance', {
    access: 'administrator',
    scopes: { reads: 'read', writes: 'rules' },
  })

  api.list('listChangeSets', '/vaults/:code/change-sets', {
    summary: 'List change sets',
    description: `Newest first. ${readers}`,
    access: 'member',
    querystring: ChangeSetQuery,
    item: ChangeSetListItem,
    load: async (db, { member, query }, page) => {
      if (!(await readsRules(db, member))) return []
      return listChangeSets(db, member.vault.id, { isOpen: query.open ?? null }, page)
    },
    present: toChangeSetListItem,
  })

  api.get('getChangeSet', '/vaults/:code/change-sets/:id', {
    summary: 'Get a change set',
    description: `With its changes and the rules that would result. ${readers}`,
    access: 'member',
    answers: { 200: ChangeSet },
    handler: async (db, { member, params }) => {
      await assertReadsRules(db, member, 'Change set')
      return readChangeSet(db, member, params.id)
    },
  })

  api.send.post('createChangeSet', '/vaults/:code/change-sets', {
    summary: 'Draft a change set',
    description:
      'Several changes of the rules that are decided on as one. The changes are tried and rolled back, so that an ' +
      'impossible change is refused at once. For administrators of the vault.',
    errors: [404, ...changeErrors],
    body: ChangeSetDraft,
    answers: { 201: ChangeSet },
    handler: ({ member, body, now }, { write }) =>
      governed.withProbe((probed) =>
        write(async (trx) => {
          const id = await createChangeSet(trx, engine, toDraft(body), { member, now, probed })
          return readChangeSet(trx, member, id)
        }),
      ),
  })

  api.post('rollBackRules', '/vaults/:code/rules/versions/:number/rollback', {
    summary: 'Draft a return to a version of the rules',
    description:
      'Drafts a change set that returns the rules to this version: policies, policy groups, memberships, approvals and ' +
      'rights of categories, folders that rules name, variants and governance. Secrets, the wallet service, invitations ' +
      'and tokens stay as they are. For administrators of the vault; 409 when nothing differs.',
    params: versionParams,
    errors: [404, ...changeErrors],
    answers: { 201: ChangeSet },
    handler: async (trx, { member, params, now }) => {
      const { id: vaultId } = member.vault
      const wanted = orNotFound(await findVersion(trx, vaultId, params.number), 'Version')
      const changes = await changesBetween(trx, vaultId, wanted.document, now)
      const draft = { title: `Return to version ${params.number}`, changes }
      const id = await createChangeSet(trx, engine, draft, { member, now, probed: null })
      return readChangeSet(trx, member, id)
    },
  })

  api.send.put('updateChangeSet', '/vaults/:code/change-sets/:id', {
    summary: 'Change a draft',
    description:
      'Replaces the title and the changes, on the newest version of the rules. For its author; 409 unless it is a draft.',
    errors: changeErrors,
    body: ChangeSetDraft,
    answers: { 200: ChangeSet },
    handler: ({ member, params: { id }, body, now }, { write }) =>
      governed.withProbe((probed) =>
        write(async (trx) => {
          await updateChangeSet(trx, engine, { id, ...toDraft(body) }, { member, now, probed })
          return readChangeSet(trx, member, id)
        }),
      ),
  })

  api.send.post('rebaseChangeSet', '/vaults/:code/change-sets/:id/rebase', {
    summary: 'Rebase a change set',
    description:
      'Drafts the same changes on the newest version of the rules. A submitted change set becomes a draft again and loses ' +
      'its votes. For its author; 409 when it was applied or cancelled.',
    errors: changeErrors,
    answers: { 200: ChangeSet },
    handler: ({ member, params: { id }, now }, { write }) =>
      governed.withProbe((probed) =>
        write(async (trx) => {
          await rebaseChangeSet(trx, engine, id, { member, now, probed })
          return readChangeSet(trx, member, id)
        }),
      ),
  })

  api.send.post('submitChangeSet', '/vaults/:code/change-sets/:id/submit', {
    summary: 'Submit a change set',
    description:
      'Requests the votes on the change set (202), which are cast on its approval request. In a vault without governance ' +
      'the change set is applied at once (200). For its author; 409 unless it is a draft, and when the rules were changed ' +
      'after it was drafted.',
    errors: ['rules_changed', ...changeErrors],
    confirmed: 'where protected',
    answers: { 200: ChangeSet, 202: WaitingAction },
    handler: ({ member, params: { id }, now, confirm }, { write }) =>
      prefetching((fetched) =>
        write(async (trx) => {
          const outcome = await submitChangeSet(trx, engine, id, { member, now, probed: null, fetched })
          if (member.vault.protection === 'votes')
            await assertSteppedUp(trx, { caller: member, confirm, isVotedOn: 'request' in outcome })
          if ('applied' in outcome) return readChangeSet(trx, member, id)
          return accepted({ request: await readRequest(trx, member, outcome.request, now) })
        }),
      ),
  })

  api.post('cancelChangeSet', '/vaults/:code/change-sets/:id/cancel', {
    summary: 'Cancel a change set',
    description:
      'By any administrator of the vault, until it takes effect: also while it waits for votes or for its time.',
    errors: ['wrong_state'],
    answers: { 200: ChangeSet },
    handler: async (trx, { member, params: { id }, now }) => {
      await cancelChangeSet(trx, id, { member, now })
      return readChangeSet(trx, member, id)
    },
  })
}

const toDraft = ({
  title,
  changes,
}: {
  title: string
  changes: (Omit<Change, 'targetId'> & { targetId?: string | null })[]
}) => ({
  title,
  changes: changes.map(({ targetId = null, ...change }) => ({ ...change, targetId })),
})

async function readChangeSet(db: Db | Trx, { vault }: Member, id: string) {
  return toChangeSet(orNotFound(await findChangeSet(db, vault.id, id), 'Change set'))
}
