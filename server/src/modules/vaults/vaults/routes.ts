import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { badRequest } from '../../../lib/errors.ts'
import { imageEndpoints } from '../../registry/images/endpoints.ts'
import { WaitingAction } from '../../rules/approval-requests/schema.ts'
import { governedIn } from '../../rules/governance/govern.ts'
import { listSigningPages, readAuthority } from '../authority/authority.ts'
import { cancelAuthority } from '../authority/cancel-authority.ts'
import { AuthorityCancellation, SigningPages, VaultAuthority } from '../authority/schema.ts'
import { parseDerivationPath } from '../structure/derivation.ts'
import { findVault, listVaultsOf } from '../structure/queries.ts'
import {
  DerivationPathInput,
  ParsedDerivationPath,
  ProtectionUpdate,
  RoutesReplacement,
  routeParams,
  Variant,
  VariantInput,
  VariantUpdate,
  Vault,
  VaultCreation,
  VaultUpdate,
} from '../structure/schema.ts'
import { addVariant, replaceStructure, updateVariant } from '../structure/write-structure.ts'
import { withProbe } from '../wallets/probe-wallet.ts'
import { compareVault } from '../wallets/watch-accepted.ts'
import { createVault, updateProtection, updateVault } from './actions.ts'
import { lockVault, withAccountKeys } from './lock.ts'
import { toVariant, toVault } from './present.ts'

export function vaultsRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'Vaults', { access: 'administrator', scopes: { reads: 'read', writes: 'rules' } })

  imageEndpoints(api, '/vaults/:code', {
    name: 'Vault',
    noun: 'a vault',
    who: 'For administrators of the vault. Returns the vault, whose `logoUri` is the address of the image.',
    type: 'vault',
    answer: Vault,
    idOf: ({ member }) => member.vault.id,
    change: async (trx, by, logoUri) => {
      // Only a change of the wallet service is probed, and only such a change may be refused for it.
      const vault = await updateVault(trx, deps, { logoUri }, by, null)
      if ('refusal' in vault) throw vault.refusal
      return { body: toVault(vault), vaultId: vault.id }
    },
  })
  const governed = governedIn(deps)

  api.list('listVaults', '/vaults', {
    summary: 'List vaults',
    description:
      'The vaults of which the caller is a member, newest first. Also the way to check a token: 401 when it is not valid.',
    access: 'caller',
    item: Vault,
    load: (db, { caller }, page) => listVaultsOf(db, caller.userId, page),
    present: toVault,
  })

  api.post('createVault', '/vaults', {
    summary: 'Create a vault',
    description:
      'For platform administrators. Creates a draft vault with its networks, routes and system groups in one ' +
      'transaction; the caller becomes its first administrator. 409 when the code is taken.',
    access: 'platform',
    errors: ['already_exists'],
    body: VaultCreation,
    answers: { 201: Vault },
    handler: async (trx, { body, ...by }) => toVault(await createVault(trx, deps, body, by)),
  })

  api.get('getVault', '/vaults/:code', {
    summary: 'Get a vault',
    description: 'With its networks, routes and variants. For members of the vault.',
    access: 'member',
    answers: { 200: Vault },
    handler: async (db, { member }) => toVault((await findVault(db, member.vault.id))!),
  })

  api.send.patch('updateVault', '/vaults/:code', {
    summary: 'Update a vault',
    description:
      'Its name, description, logo and wallet service. For administrators of the vault. A `walletServiceUrl` of another ' +
      'origin (scheme, host or port) requires `walletServiceSecret` in the same request: the secret of the new ' +
      'service, or null for none. Without it the answer is 400 and nothing changes, so that a stored secret never ' +
      'reaches a service that it was not given for. Within the same origin the stored secret stays. A new wallet ' +
      'service, or secret, of a vault with addresses is asked for the first, the last and twenty random addresses: 409 ' +
      'when one differs, 502 or 503 when it does not answer, 400 when the service may not connect to it, 409 while ' +
      'transfers of the vault are in flight.',
    errors: [
      'changed_concurrently',
      'limit_reached',
      'quorum_unreachable',
      'transfers_in_flight',
      'wallet_differs',
      'wallet_service_failed',
      'wallet_service_silent',
    ],
    body: VaultUpdate,
    confirmed: 'where protected',
    answers: { 200: Vault, 202: WaitingAction },
    handler: ({ body, ...by }, { write }) =>
      withProbe(deps, (probed) =>
        write((trx) =>
          governed(trx, by, ['vault_update', null, body], async () => {
            const updated = await updateVault(trx, deps, body, by, probed)
            return 'refusal' in updated ? updated : toVault(updated)
          }),
        ),
      ),
  })

  api.get('getAuthority', '/vaults/:code/authority', {
    summary: 'Get the authority of a protected vault',
    description:
      'The authority of the wallet service, as it answers now (docs/signed-orders.md): the keys and votes that it requires. ' +
      'For all members of the vault. 404 when the wallet service has none. A service that was taken over could show another ' +
      'authority: compare `hash` with the hash that the wallet service itself shows.',
    access: 'member',
    errors: ['wallet_service_failed'],
    answers: { 200: VaultAuthority },
    handler: (_db, { member }) => readAuthority(deps, member.vault.id),
  })

  api.get('getAuthoritySigningPages', '/vaults/:code/authority/signing-pages', {
    summary: 'Get the pages on which you sign',
    description:
      'Pages of the wallet service where votes on transfers and payouts are signed, by keys of yours in the authority ' +
      '(docs/signed-orders.md).',
    access: 'member',
    errors: ['wallet_service_failed'],
    answers: { 200: SigningPages },
    handler: async (_db, { member }) => ({ origins: await listSigningPages(deps, member) }),
  })

  api.send.post('cancelAuthority', '/vaults/:code/authority/cancel', {
    summary: 'Cancel the next version of the authority',
    description:
      'Hands signed votes `reject` on the `hash` of the pending version to the wallet service, which counts them: ' +
      '`votesToCancel` people of `change.group` cancel it for good. For all members of the vault, whoever signed. 403 when ' +
      'the wallet service refuses the votes, with its code in `details`; 404 when no such version waits. A repetition ' +
      'changes nothing.',
    access: 'member',
    scope: 'vote',
    errors: ['votes_refused', 'wallet_service_failed'],
    body: AuthorityCancellation,
    answers: { 200: VaultAuthority },
    handler: ({ body, member, now }, { answerOnce }) =>
      answerOnce(async () => {
        await cancelAuthority(deps, { member, now }, body.votes)
        return readAuthority(deps, member.vault.id)
      }),
  })

  api.put('updateProtection', '/vaults/:code/protection', {
    summary: 'Update the protection of a vault',
    description:
      'Switches on or off that people sign every payment of the vault (docs/signed-orders.md). For administrators of the ' +
      'vault, who confirm it with a passkey. Both directions are changes of the rules, which wait for votes under governance. ' +
      'Unsigned orders that wait when protection is switched on must be ordered again.',
    confirmed: true,
    errors: ['limit_reached', 'quorum_unreachable'],
    body: ProtectionUpdate,
    answers: { 200: Vault, 202: WaitingAction },
    handler: async (trx, { body, ...by }) => {
      // The user who switches it on must have a passkey: the first passkeys of others wait for a user who has one.
      if (by.member.vault.protection === 'off')
        await by.confirm(trx, body.protection === 'off' ? { unlessNone: true } : {})
      return governed(trx, by, ['protection_update', null, body], async () =>
        toVault(await updateProtection(trx, body, by)),
      )
    },
  })

  api.send.post('lockVault', '/vaults/:code/lock', {
    summary: 'Lock a vault',
    description:
      'Makes the structure of the vault final, which is required before addresses can be created. For administrators ' +
      'of the vault. Cannot be undone; 409 when the vault is already locked. The wallet service is asked for the public ' +
      'keys of the accounts, from which the service derives every new address itself; 502 when the wallet service did not ' +
      'sign a key.',
    errors: ['changed_concurrently', 'vault_is_locked', 'wallet_service_failed'],
    answers: { 200: Vault },
    handler: async (by, { write }) => {
      await compareVault(deps, by.member.vault.id)
      return withAccountKeys(deps, (answer) => write(async (trx) => toVault(await lockVault(trx, by, answer))))
    },
  })

  api.put('replaceRoutes', '/vaults/:code/routes', {
    summary: 'Replace the routes of a vault',
    description:
      'Replaces the networks and routes as a whole. For administrators of the vault, while it is a draft; 409 when it is locked.',
    errors: ['limit_reached', 'quorum_unreachable', 'vault_is_locked'],
    body: RoutesReplacement,
    confirmed: 'where protected',
    answers: { 200: Vault, 202: WaitingAction },
    handler: (trx, { body, ...by }) =>
      governed(trx, by, ['routes_replace', null, body], async () =>
        toVault(await replaceStructure(trx, body.routes, by)),
      ),
  })

  api.post('addVariant', '/vaults/:code/routes/:routeId/variants', {
    summary: 'Add a variant to a route',
    description:
      'For administrators of the vault, before and after locking. 409 for a dynamic route, and when the route has a ' +
      'variant with this id or code.',
    errors: ['already_exists', 'limit_reached', 'quorum_unreachable', 'route_is_dynamic'],
    params: routeParams,
    body: VariantInput,
    confirmed: 'where protected',
    answers: { 201: Variant, 202: WaitingAction },
    handler: (trx, { params, body, ...by }) =>
      governed(trx, by, ['variant_add', params.routeId, body], async () =>
        toVariant(await addVariant(trx, params.routeId, body, by)),
      ),
  })

  api.patch('updateVariant', '/vaults/:code/variants/:id', {
    summary: 'Update a variant',
    description:
      'Its name, description, token, and whether it is enabled. For administrators of the vault. Code and number never change.',
    errors: ['limit_reached', 'quorum_unreachable'],
    body: VariantUpdate,
    confirmed: 'where protected',
    answers: { 200: Variant, 202: WaitingAction },
    handler: (trx, { params, body, ...by }) =>
      governed(trx, by, ['variant_update', params.id, body], async () =>
        toVariant(await updateVariant(trx, params.id, body, by)),
      ),
  })

  api.calculate('parseDerivationPath', '/vaults/:code/derivation-path/parse', {
    summary: 'Parse a derivation path',
    description:
      'Resolves a path against the structure of the vault: its network and one route per segment. Disabled variants ' +
      'match, too. 400 with the rule that failed.',
    access: 'member',
    body: DerivationPathInput,
    answers: { 200: ParsedDerivationPath },
    handler: async (db, { member, body }) => {
      const vault = toVault((await findVault(db, member.vault.id))!)
      const parsed = parseDerivationPath(body.path, vault)
      if ('fault' in parsed) throw badRequest('path', parsed.fault)
      return parsed
    },
  })
}
