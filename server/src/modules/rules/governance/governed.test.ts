import { readFile } from 'node:fs/promises'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { governedOf } from '../../../composition/governed.ts'
import { createTestApp, type TestApp } from '../../../testing/app.ts'
import { describedApiOf } from '../../../testing/described-api.ts'
import { governedActions } from '../change-sets/governed-actions.ts'

let test: TestApp

beforeAll(async () => {
  test = await createTestApp()
})
afterAll(() => test.close())

/** The operations that write, but do not change the document of the rules, by the reason. */
const others: Record<string, string> = {
  'what one person shows of themselves': `replaceMyImage deleteMyImage updateMyProfile replaceMyPreferences revokeSession signOut
    signOutEverywhere requestMagicLink redeemMagicLink`,
  'how one person signs in and confirms': `preparePasskeySignIn signInWithPasskey preparePasskey addPasskey removePasskey
    prepareConfirmation`,
  'users of the platform, whom the platform disables and enables': 'disableUser enableUser signOutUserEverywhere',
  'identity providers, which open sessions and give no rights; a second platform administrator activates each':
    'createIdentityProvider updateIdentityProvider activateIdentityProvider deactivateIdentityProvider',
  'directories, which stop people and give no rights; a second platform administrator activates each': `createDirectory
    updateDirectory activateDirectory rotateDirectoryToken deactivateDirectory decideDirectoryStops createScimUser replaceScimUser
    patchScimUser deleteScimUser createScimGroup replaceScimGroup patchScimGroup deleteScimGroup`,
  'accounts at a provider, without which the next sign-in is a first one': 'removeUserIdentity',
  'ways in beside a provider, on which two platform administrators agree': `enforceIdentityProvider addBreakGlassPerson
    removeBreakGlassPerson`,
  'a token that ends; its service stays in its groups, disabled': 'revokeServiceToken',
  'looks only': `replacePolicyGroupImage deletePolicyGroupImage replaceVaultImage deleteVaultImage replaceNetworkImage
    deleteNetworkImage replaceTokenImage deleteTokenImage replaceAddressImage deleteAddressImage replaceCounterpartyImage
    deleteCounterpartyImage replaceCounterpartyGroupImage deleteCounterpartyGroupImage updateNetwork`,
  'drafts, and what waits for votes': `createChangeSet updateChangeSet submitChangeSet rebaseChangeSet cancelChangeSet
    rollBackRules`,
  'signed votes, which the wallet service counts': 'cancelAuthority',
  'the votes themselves': 'approveApprovalRequest rejectApprovalRequest cancelApprovalRequest voteOnMany',
  'the registry: tokens are withheld from vaults with governance, and rates held back': `createToken updateToken
    recordTokenRate confirmHeldRate rejectHeldRate confirmPlatformChange rejectPlatformChange`,
  'a new vault, and the end of its draft': 'createVault lockVault',
  calculations: `parseDerivationPath previewTransfer previewTransferReplacement previewPayout checkRecipients simulatePolicies
    backtestPolicies startLedgerVerification startReportExport createReportExport createAuditorArchive`,
  'money, which the rules decide on': `createAdjustment agreeToAdjustment
    createTransfer approveTransfer rejectTransfer cancelTransfer speedUpTransfer
    cancelTransferOnChain resolveTransfer resolveWalletEvent createPayout approvePayout rejectPayout cancelPayout addOperationRate
    receiveWalletEvent`,
  'holds, which are above the rules': 'placeHold confirmHold releaseHold',
  'words about operations': `assignCategory unassignCategory updateOperationMetadata createOperationRelation deleteOperationRelation`,
  'addresses and who shares them, which their owners decide': `createAddress updateAddress createAddressGrant deleteAddressGrant
    createAddressGroup deleteAddressGroup createAddressGroupGrant deleteAddressGroupGrant`,
  'the address book, which policies of its own decide on': `createCounterparty updateCounterparty archiveCounterparty
    addCounterpartyAddress removeCounterpartyAddress createCounterpartyGroup updateCounterpartyGroup archiveCounterpartyGroup
    addCounterpartyGroupMember removeCounterpartyGroupMember createCompositeApprovalRequest`,
}

const otherIds = () => Object.values(others).flatMap((ids) => ids.split(/\s+/))

function writingOperations(): Map<string, string[]> {
  const { paths } = describedApiOf(test.app)
  const all = Object.values(paths).flatMap((operations) => Object.entries(operations))
  const writing = all.filter(([method]) => method !== 'get')
  return new Map(writing.map(([, { operationId, responses }]) => [operationId!, Object.keys(responses)]))
}

it('every operation that writes is governed, or is listed as one that does not change the rules', () => {
  const governed = Object.values(governedOf(test.deps).actions).map(({ operationId }) => operationId)
  const known = new Set([...governed, ...otherIds()])
  const calculates = (id: string) => id.startsWith('postReport')
  expect([...writingOperations().keys()].filter((id) => !known.has(id) && !calculates(id))).toEqual([])
  expect(governed.filter((id) => otherIds().includes(id))).toEqual([])
})

it('every governed operation may wait for votes', () => {
  const operations = writingOperations()
  for (const [name, { operationId }] of Object.entries(governedOf(test.deps).actions)) {
    expect(operations.get(operationId), name).toContain('202')
  }
})

it('docs/governance.md lists them all', async () => {
  const manual = await readFile(new URL('../../../../../docs/governance.md', import.meta.url), 'utf8')
  const section = manual.slice(manual.indexOf('## What is governed'))
  const rows = [...section.matchAll(/^\| `(\w+)` +\| `(\w+)`/gm)].map(([, action, operation]) => [action, operation])
  const { actions } = governedOf(test.deps)
  expect(rows).toEqual(governedActions.map((name) => [name, actions[name].operationId]))
})

it('the database refuses an unpublished change of each table of the document', async () => {
  const source = await readFile(new URL('../rules-versions/rules-document.ts', import.meta.url), 'utf8')
  const statements = source.replaceAll(/\/\*\*[\s\S]*?\*\/|\/\/.*/g, '')
  const tables = new Set([...statements.matchAll(/\b(?:from|join) (\w+) \w+\b/g)].map(([, table]) => table!))
  // The registry and the structure of a draft, and what is written with its parent.
  const without = ['networks', 'tokens', 'vault_networks', 'routes', 'invitation_groups']
  const { rows } = await sql<{ name: string }>`
    select tgrelid::regclass::text as name from pg_trigger where tgname like '%_governed'`.execute(test.deps.db)
  const guarded = rows.map(({ name }) => name)
  expect([...tables].filter((table) => !without.includes(table) && !guarded.includes(table))).toEqual([])
})
