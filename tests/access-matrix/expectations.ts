import { fakeAddress, fakeTxHash } from '../../server/src/testing/fake-wallet.ts'
import { fixtureRoutes } from '../../server/src/testing/fixtures.ts'
import { pngOf } from '../../server/src/testing/images.ts'
import {
  type CallerName,
  callerNames,
  categoryGrant,
  fresh,
  type Resources,
  relationBody,
  serviceKeyBody,
} from './world.ts'

export type Request = {
  params?: Record<string, string>
  query?: Record<string, string>
  body?: unknown
  image?: Buffer
}
export type Row = {
  expected: Record<CallerName, number>
  /** A valid request, except perhaps for its caller. `code` is put into the path automatically. */
  request(resources: Resources): Request | Promise<Request>
  /** The request ends its own session, so each caller needs a new one. */
  endsSession?: boolean
  /** It lists the vaults by id and code to permitted callers, and nothing of their content. */
  namesVaults?: true
  /** It lists users by name to permitted callers, who are not their fellow members. */
  namesPeople?: true
  /** Its body may have any fields. */
  isOpen?: true
  /** It names a resource that no caller has, because a real one needs more than a credential. Permitted callers get a 404. */
  isOfNobody?: true
  /** It reads the registry, which belongs to no vault. */
  ofRegistry?: true
  /** It names a version by its number, and every vault has the same numbers. */
  ofNumbers?: true
  /** Requests from the caller's own vault that name `strange` resources elsewhere than in the path. */
  reaches?(resources: Resources, strange: Resources): Promise<Request[]>
}

const vaultBody = () => ({
  vault: { code: `vault-${fresh()}`, name: 'Another vault', walletServiceUrl: 'https://wallet.example.org' },
  routes: fixtureRoutes,
})
const order = async (r: Resources) => ({
  body: {
    fromAddressId: await r.payingAddress(),
    toAddress: fakeAddress(`recipient ${fresh()}`),
    amount: '0.01',
    metadata: { paymentPurpose: 'Invoice 4711' },
  },
})
const rejectionOf = (hash: string) => ({
  vote: {
    format: 'strongroom-vote-2',
    subject: 'authority',
    hash,
    decision: 'reject',
    person: 'cmi8h2k1p0a1b2c3d4e5f6g7h',
    authority: 'b'.repeat(64),
    signedAt: '2026-01-31T09:30:00.000Z',
  },
  keyId: 'key',
  signature: 'c2lnbmF0dXJl',
})
const policyBody = () => ({
  code: `policy-${fresh()}`,
  name: 'A policy',
  actionType: 'create_address',
  effect: 'allow',
  rules: [{ conditionType: 'require', selectors: [{ selectorType: 'network', value: 'ethereum' }] }],
})
const payout = async (r: Resources) => {
  const { metadata: _, ...row } = (await order(r)).body
  return { body: { name: 'Salaries', rows: [{ ...row, externalId: `salary-${fresh()}`, paymentPurpose: 'Salary' }] } }
}
const toCheck = () => ({
  body: { recipients: [{ network: 'ethereum', address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' }] },
})
const ofPayout = async (r: Resources) => ({ params: { id: await r.payout() } })
const draftBody = () => ({
  title: 'A group for the night shift',
  changes: [{ action: 'policy_group_create', payload: { code: `night-${fresh()}`, name: 'Night shift' } }],
})
const ofHold = async (r: Resources) => ({ params: { id: await r.hold() } })
const ofRelease = async (r: Resources) => ({ ...(await ofHold(r)), body: { reason: 'False alarm' } })
const holdOf = (subjectType: string, subjectId: string) => ({
  body: { subjectType, subjectId, reason: 'Look into it' },
})
const toHold = async (r: Resources) => holdOf('counterparty', await r.counterparty())
const ofTransfer = async (r: Resources) => ({ params: { id: await r.transfer() } })
const ofReplacement = async (r: Resources) => ({ ...(await ofTransfer(r)), body: { txHash: null } })
const ofFolder = async (r: Resources) => ({ params: { id: await r.folder() } })
const grantBody = async (r: Resources) => ({ subjectType: 'group', subjectId: await r.group(), canTransfer: true })
const relationOf = async (r: Resources) => ({ body: relationBody(await r.transfer(), await r.deposit()) })
const ofCategory = async (r: Resources) => ({ params: { id: await r.category() } })
const ofOperation = async (r: Resources) => ({ params: { type: 'transfer', id: await r.transfer() } })
const ofAssigned = async (r: Resources) => {
  const { type, id } = await r.assignment()
  return { params: { type, id } }
}
const plain = () => ({})
const refusedToAll = '401 401 401 401 401 401 401 401 401 401 401 401 401 401'
/** Answers of an authenticator to an unknown challenge. */
const strangePasskey = {
  name: 'Phone',
  credential: { id: 'AQID', nonce: 'AQID', clientDataJSON: 'e30', attestationObject: 'oA', transports: ['internal'] },
}
const strangeAssertion = {
  id: 'AQID',
  nonce: 'AQID',
  clientDataJSON: 'e30',
  authenticatorData: 'AQID',
  signature: 'AQID',
}
const newImage = () => ({ image: pngOf(`image ${fresh()}`) })
/** Everything the caller may see, within a fixed interval that does not depend on the duration of the tests. */
const reportOf = (subject: (r: Resources) => Record<string, string> | Promise<Record<string, string>>) => {
  return async (r: Resources) => ({ query: { ...reported, includeShared: 'true', ...(await subject(r)) } })
}
const day = 86_400_000
/** Over already, so that answers do not name the time of the request. */
const past = { from: new Date(Date.now() - day).toISOString(), to: new Date(Date.now() - 1_000).toISOString() }
const reported = {
  from: new Date(Date.now() - day).toISOString(),
  to: new Date(Date.now() + day).toISOString(),
}

/**
 * The answer of each operation of openapi.json to each caller with a valid request. `outsider`: signed in, member of no
 * vault. `owner`, `other`, `approver`, `admin`, `service`: members of the vault; the address, its deposits and its
 * transfers are the owner's, and the approver votes on the transfers. `foreignAdmin` and `foreignService` belong to
 * another vault. `platform`: platform administrator and no member. `auditor`: in the group of the
 * auditors, and in groups whose members may act and vote.
 */
// biome-ignore format: a table is read by its columns.
export const expectations: Record<string, Row> = {
  // nobody outsider owner userViewer groupViewer grantee other approver admin foreignAdmin platform service foreignService auditor
  // directory
  getOpenApi:           row('200 200 200 200 200 200 200 200 200 200 200 200 200 200', plain),
  getHealth:            row('200 200 200 200 200 200 200 200 200 200 200 200 200 200', plain),
  getReadiness:         row('200 200 200 200 200 200 200 200 200 200 200 200 200 200', plain),
  getMetrics:           row('200 200 200 200 200 200 200 200 200 200 200 200 200 200', plain),
  requestMagicLink: row('200 200 200 200 200 200 200 200 200 200 200 200 200 200',
    () => ({ body: { email: `nobody-${fresh()}@example.org` } })),
  followMagicLink: row('302 302 302 302 302 302 302 302 302 302 302 302 302 302',
    () => ({ query: { token: 'a-token-that-nobody-was-ever-sent' } })),
  redeemMagicLink: row('401 401 401 401 401 401 401 401 401 401 401 401 401 401',
    () => ({ body: { token: 'a-token-that-nobody-was-ever-sent' } })),
  listProvidersOfAddress: row('200 200 200 200 200 200 200 200 200 200 200 200 200 200',
    () => ({ query: { email: `nobody-${fresh()}@example.org` } })),
  listIdentityProviders: row('401 403 403 403 403 403 403 403 403 403 200 403 403 403', plain),
  getIdentityProvider: row('401 403 403 403 403 403 403 403 403 403 404 403 403 403',
    () => ({ params: { id: 'nobodys' } }), { isOfNobody: true }),
  createIdentityProvider: row('401 403 403 403 403 403 403 403 403 403 201 403 403 403',
    () => ({ body: { name: 'Corp', issuer: 'https://id.example.org', clientId: 'strongroom', domains: ['example.org'] } })),
  updateIdentityProvider: row('401 403 403 403 403 403 403 403 403 403 404 403 403 403',
    () => ({ params: { id: 'nobodys' }, body: { name: 'Corp' } }), { isOfNobody: true }),
  activateIdentityProvider: row('401 403 403 403 403 403 403 403 403 403 404 403 403 403',
    () => ({ params: { id: 'nobodys' } }), { isOfNobody: true }),
  deactivateIdentityProvider: row('401 403 403 403 403 403 403 403 403 403 404 403 403 403',
    () => ({ params: { id: 'nobodys' } }), { isOfNobody: true }),
  listDirectories: row('401 403 403 403 403 403 403 403 403 403 200 403 403 403', plain),
  getDirectory: row('401 403 403 403 403 403 403 403 403 403 404 403 403 403',
    () => ({ params: { id: 'nobodys' } }), { isOfNobody: true }),
  createDirectory: row('401 403 403 403 403 403 403 403 403 403 201 403 403 403',
    () => ({ body: { name: 'Corp', domains: ['example.org'] } })),
  updateDirectory: row('401 403 403 403 403 403 403 403 403 403 404 403 403 403',
    () => ({ params: { id: 'nobodys' }, body: { name: 'Corp' } }), { isOfNobody: true }),
  activateDirectory: row('401 403 403 403 403 403 403 403 403 403 404 403 403 403',
    () => ({ params: { id: 'nobodys' } }), { isOfNobody: true }),
  rotateDirectoryToken: row('401 403 403 403 403 403 403 403 403 403 404 403 403 403',
    () => ({ params: { id: 'nobodys' }, body: {} }), { isOfNobody: true }),
  deactivateDirectory: row('401 403 403 403 403 403 403 403 403 403 404 403 403 403',
    () => ({ params: { id: 'nobodys' } }), { isOfNobody: true }),
  listDirectoryPeople: row('401 403 403 403 403 403 403 403 403 403 404 403 403 403',
    () => ({ params: { id: 'nobodys' } }), { isOfNobody: true }),
  decideDirectoryStops: row('401 403 403 403 403 403 403 403 403 403 404 403 403 403',
    () => ({ params: { id: 'nobodys' }, body: { decision: 'keep', userIds: ['cmi8h2k1p0a1b2c3d4e5f6g7h'] } }),
    { isOfNobody: true }),
  // Only the directory itself, the last caller, is let in: its token is neither a session nor a service token.
  getScimConfig: row(`${refusedToAll} 200`, plain),
  listScimResourceTypes: row(`${refusedToAll} 200`, plain),
  getScimResourceType: row(`${refusedToAll} 404`, () => ({ params: { id: 'nobodys' } }), { isOfNobody: true }),
  listScimSchemas: row(`${refusedToAll} 200`, plain),
  getScimSchema: row(`${refusedToAll} 404`, () => ({ params: { id: 'nobodys' } }), { isOfNobody: true }),
  listScimUsers: row(`${refusedToAll} 200`, plain),
  getScimUser: row(`${refusedToAll} 404`, () => ({ params: { id: 'nobodys' } }), { isOfNobody: true }),
  createScimUser: row(`${refusedToAll} 201`, () => ({ body: { userName: `${fresh()}@directory.example` } }), { isOpen: true }),
  replaceScimUser: row(`${refusedToAll} 404`,
    () => ({ params: { id: 'nobodys' }, body: { userName: 'a@directory.example' } }), { isOfNobody: true, isOpen: true }),
  patchScimUser: row(`${refusedToAll} 404`,
    () => ({ params: { id: 'nobodys' }, body: { Operations: [{ op: 'remove', path: 'title' }] } }),
    { isOfNobody: true, isOpen: true }),
  listScimGroups: row(`${refusedToAll} 200`, plain),
  getScimGroup: row(`${refusedToAll} 404`, () => ({ params: { id: 'nobodys' } }), { isOfNobody: true }),
  createScimGroup: row(`${refusedToAll} 201`, () => ({ body: { displayName: `Group ${fresh()}` } }), { isOpen: true }),
  replaceScimGroup: row(`${refusedToAll} 404`,
    () => ({ params: { id: 'nobodys' }, body: { displayName: 'Treasury' } }), { isOfNobody: true, isOpen: true }),
  patchScimGroup: row(`${refusedToAll} 404`,
    () => ({ params: { id: 'nobodys' }, body: { Operations: [{ op: 'remove', path: 'members' }] } }),
    { isOfNobody: true, isOpen: true }),
  deleteScimGroup: row(`${refusedToAll} 404`, () => ({ params: { id: 'nobodys' } }), { isOfNobody: true }),
  deleteScimUser: row(`${refusedToAll} 404`, () => ({ params: { id: 'nobodys' } }), { isOfNobody: true }),
  enforceIdentityProvider: row('401 403 403 403 403 403 403 403 403 403 404 403 403 403',
    () => ({ params: { id: 'nobodys' }, body: { enforce: true } }), { isOfNobody: true }),
  listMyIdentities:     row('401 200 200 200 200 200 200 200 200 200 200 200 200 200', plain),
  listUserIdentities: row('401 403 403 403 403 403 403 403 403 403 404 403 403 403',
    () => ({ params: { id: 'nobodys' } }), { isOfNobody: true }),
  removeUserIdentity: row('401 403 403 403 403 403 403 403 403 403 404 403 403 403',
    () => ({ params: { id: 'nobodys', identityId: 'nobodys' } }), { isOfNobody: true }),
  listBreakGlassPeople: row('401 403 403 403 403 403 403 403 403 403 200 403 403 403', plain),
  addBreakGlassPerson: row('401 403 403 403 403 403 403 403 403 403 404 403 403 403',
    () => ({ body: { userId: 'cmi8h2k1p0a1b2c3d4e5f6g7h' } }), { isOfNobody: true }),
  removeBreakGlassPerson: row('401 403 403 403 403 403 403 403 403 403 404 403 403 403',
    () => ({ params: { id: 'nobodys' } }), { isOfNobody: true }),
  listWalletEvents:     row('401 403 403 403 403 403 403 403 403 403 200 403 403 403', () => ({ query: { outcome: 'unmatched' } })),
  receiveWalletEvent:   row('200 200 200 200 200 200 200 200 200 200 200 200 200 200', () => ({ body: walletEvent() })),

  getCurrentSession:    row('401 200 200 200 200 200 200 200 200 200 200 200 200 200', plain),
  listSessions:         row('401 200 200 200 200 200 200 200 200 200 200 200 200 200', plain),
  listMyPasskeys:       row('401 200 200 200 200 200 200 200 200 200 200 200 200 200', plain),
  preparePasskey:       row('401 200 200 200 200 200 200 200 200 200 200 403 403 200', plain),
  addPasskey: row('401 409 409 409 409 409 409 409 409 409 409 403 403 409', () => ({ body: strangePasskey })),
  prepareConfirmation: row('401 200 200 200 200 200 200 200 200 200 200 403 403 200',
    () => ({ body: { method: 'DELETE', path: '/api/v1/users/me/passkeys/nobodys', bodyHash: '0'.repeat(64) } })),
  removePasskey: row('401 404 404 404 404 404 404 404 404 404 404 404 404 404',
    () => ({ params: { id: 'nobodys' } }), { isOfNobody: true }),
  preparePasskeySignIn: row('200 200 200 200 200 200 200 200 200 200 200 200 200 200', plain),
  signInWithPasskey: row('401 401 401 401 401 401 401 401 401 401 401 401 401 401',
    () => ({ body: { credential: strangeAssertion } })),
  revokeSession: row('401 404 204 404 404 404 404 404 404 404 404 404 404 404',
    async (r) => ({ params: { id: await r.session() } })),
  signOut:              row('401 204 204 204 204 204 204 204 204 204 204 409 409 204', plain, { endsSession: true }),
  signOutEverywhere: row('401 200 200 200 200 200 200 200 200 200 200 409 409 200',
    () => ({ body: { keepCurrent: true } })),
  getMyProfile:         row('401 200 200 200 200 200 200 200 200 200 200 200 200 200', plain),
  updateMyProfile:      row('401 200 200 200 200 200 200 200 200 200 200 200 200 200', () => ({ body: { color: '#1d4ed8' } })),
  getMyPreferences:     row('401 200 200 200 200 200 200 200 200 200 200 200 200 200', plain),
  replaceMyPreferences: row('401 200 200 200 200 200 200 200 200 200 200 200 200 200', () => ({ body: {} }), { isOpen: true }),

  listNetworks:         row('401 200 200 200 200 200 200 200 200 200 200 200 200 200', plain),
  getImage: row('401 404 200 200 200 200 200 200 200 404 404 200 404 200',
    async (r) => ({ params: { key: await r.image() } })),
  replaceMyImage:       row('401 200 200 200 200 200 200 200 200 200 200 200 200 200', newImage),
  deleteMyImage:        row('401 200 200 200 200 200 200 200 200 200 200 200 200 200', plain),
  replaceTokenImage: row('401 403 403 403 403 403 403 403 403 403 200 403 403 403',
    async (r) => ({ params: { id: await r.token() }, ...newImage() }), { ofRegistry: true }),
  deleteTokenImage: row('401 403 403 403 403 403 403 403 403 403 200 403 403 403',
    async (r) => ({ params: { id: await r.token() } }), { ofRegistry: true }),
  replaceNetworkImage: row('401 403 403 403 403 403 403 403 403 403 200 403 403 403',
    async (r) => ({ params: { id: await r.network() }, ...newImage() }), { ofRegistry: true }),
  deleteNetworkImage: row('401 403 403 403 403 403 403 403 403 403 200 403 403 403',
    async (r) => ({ params: { id: await r.network() } }), { ofRegistry: true }),
  replaceVaultImage:    row('401 403 403 403 403 403 403 403 200 403 403 403 403 403', newImage),
  deleteVaultImage:     row('401 403 403 403 403 403 403 403 200 403 403 403 403 403', plain),
  replacePolicyGroupImage: row('401 404 403 403 403 403 403 403 200 404 404 403 404 403',
    async (r) => ({ params: { id: await r.group() }, ...newImage() })),
  deletePolicyGroupImage: row('401 404 403 403 403 403 403 403 200 404 404 403 404 403',
    async (r) => ({ params: { id: await r.group() } })),
  replaceAddressImage: row('401 403 200 404 404 404 404 404 404 403 403 404 403 403',
    async (r) => ({ params: { id: await r.address() }, ...newImage() })),
  deleteAddressImage: row('401 403 200 404 404 404 404 404 404 403 403 404 403 403',
    async (r) => ({ params: { id: await r.address() } })),
  replaceCounterpartyImage: row('401 403 403 403 403 403 403 403 200 403 403 403 403 403',
    async (r) => ({ params: { id: await r.counterparty() }, ...newImage() })),
  deleteCounterpartyImage: row('401 403 403 403 403 403 403 403 200 403 403 403 403 403',
    async (r) => ({ params: { id: await r.counterparty() } })),
  replaceCounterpartyGroupImage: row('401 403 403 403 403 403 403 403 200 403 403 403 403 403',
    async (r) => ({ params: { id: await r.counterpartyGroup() }, ...newImage() })),
  deleteCounterpartyGroupImage: row('401 403 403 403 403 403 403 403 200 403 403 403 403 403',
    async (r) => ({ params: { id: await r.counterpartyGroup() } })),
  updateNetwork: row('401 403 403 403 403 403 403 403 403 403 200 403 403 403',
    async (r) => ({ params: { id: await r.network() }, body: {} })),
  listTokens:           row('401 200 200 200 200 200 200 200 200 200 200 200 200 200', plain),
  createToken:          row('401 403 403 403 403 403 403 403 403 403 201 403 403 403', () => ({ body: tokenBody() })),
  updateToken: row('401 403 403 403 403 403 403 403 403 403 200 403 403 403',
    async (r) => ({ params: { id: await r.token() }, body: { enabled: true } })),
  recordTokenRate: row('401 403 403 403 403 403 403 403 403 403 201 403 403 403',
    async (r) => ({ params: { id: await r.token() }, body: rateBody() })),
  listTokenRates: row('401 200 200 200 200 200 200 200 200 200 200 200 200 200',
    async (r) => ({ params: { id: await r.token() } }), { ofRegistry: true }),
  listHeldRates:        row('401 403 403 403 403 403 403 403 403 403 200 403 403 403', plain),
  confirmHeldRate: row('401 403 403 403 403 403 403 403 403 403 200 403 403 403',
    async (r) => ({ params: { id: await r.heldRate() } })),
  rejectHeldRate: row('401 403 403 403 403 403 403 403 403 403 200 403 403 403',
    async (r) => ({ params: { id: await r.heldRate() } })),
  listPlatformChanges:  row('401 403 403 403 403 403 403 403 403 403 200 403 403 403', plain),
  confirmPlatformChange: row('401 403 403 403 403 403 403 403 403 403 200 403 403 403',
    async (r) => ({ params: { id: await r.platformChange() } })),
  rejectPlatformChange: row('401 403 403 403 403 403 403 403 403 403 200 403 403 403',
    async (r) => ({ params: { id: await r.platformChange() } })),

  listVaults:           row('401 200 200 200 200 200 200 200 200 200 200 200 200 200', plain),
  createVault:          row('401 403 403 403 403 403 403 403 403 403 201 403 403 403', () => ({ body: vaultBody() })),
  getVault:             row('401 403 200 200 200 200 200 200 200 403 403 200 403 200', plain),
  getAuthority:         row('401 403 200 200 200 200 200 200 200 403 403 200 403 200', plain),
  getAuthoritySigningPages: row('401 403 200 200 200 200 200 200 200 403 403 200 403 200', plain),
  cancelAuthority: row('401 403 200 200 200 200 200 200 200 403 403 200 403 403',
    async (r) => ({ body: { votes: [rejectionOf(await r.waitingVersion())] } })),
  updateProtection: row('401 403 403 403 403 403 403 403 200 403 403 403 403 403', () => ({ body: { protection: 'off' } })),
  updateVault: row('401 403 403 403 403 403 403 403 200 403 403 403 403 403',
    () => ({ body: { description: 'Working capital' } })),
  // Permitted, but refused because the vault is locked.
  lockVault:            row('401 403 403 403 403 403 403 403 409 403 403 403 403 403', plain),
  replaceRoutes:        row('401 403 403 403 403 403 403 403 409 403 403 403 403 403', () => ({ body: { routes: fixtureRoutes } })),
  addVariant: row('401 403 403 403 403 403 403 403 201 403 403 403 403 403',
    async (r) => ({ params: { routeId: await r.route() }, body: variantBody() })),
  updateVariant: row('401 403 403 403 403 403 403 403 200 403 403 403 403 403',
    async (r) => ({ params: { id: await r.variant() }, body: { enabled: true } })),
  parseDerivationPath:  row('401 403 200 200 200 200 200 200 200 403 403 200 403 200', () => ({ body: { path: 'm/44/60/1/0' } })),

  listPolicyGroups:     row('401 403 200 200 200 200 200 200 200 403 403 200 403 200', plain),
  createPolicyGroup: row('401 403 403 403 403 403 403 403 201 403 403 403 403 403',
    () => ({ body: { code: `group-${fresh()}`, name: 'A group' } })),
  getPolicyGroup:       row('401 404 200 200 200 200 200 200 200 404 404 200 404 200', async (r) => ({ params: { id: await r.group() } })),
  updatePolicyGroup: row('401 404 403 403 403 403 403 403 200 404 404 403 404 403',
    async (r) => ({ params: { id: await r.group() }, body: { name: 'Renamed' } })),
  deletePolicyGroup:    row('401 404 403 403 403 403 403 403 204 404 404 403 404 403', async (r) => ({ params: { id: await r.group() } })),
  addPolicyGroupMember: row('401 404 403 403 403 403 403 403 201 404 404 403 404 403',
    async (r) => ({ params: { id: await r.group() }, body: { userId: `machine-${fresh()}` } })),
  removePolicyGroupMember:
    row('401 404 403 403 403 403 403 403 204 404 404 403 404 403', async (r) => ({ params: await r.membership() })),
  listPolicies:         row('401 403 200 200 200 200 200 200 200 403 403 200 403 200', plain),
  createPolicy: row('401 404 403 403 403 403 403 403 201 404 404 403 404 403',
    async (r) => ({ params: { id: await r.group() }, body: policyBody() }), { reaches: reachByPolicy }),
  getPolicy:            row('401 404 200 200 200 200 200 200 200 404 404 200 404 200', async (r) => ({ params: { id: await r.policy() } })),
  updatePolicy: row('401 404 403 403 403 403 403 403 200 404 404 403 404 403',
    async (r) => ({ params: { id: await r.policy() }, body: { name: 'Renamed' } })),
  deletePolicy:         row('401 404 403 403 403 403 403 403 204 404 404 403 404 403', async (r) => ({ params: { id: await r.policy() } })),
  simulatePolicies: row('401 403 200 200 200 200 404 404 200 403 403 404 403 200',
    async (r) => ({ body: { actionType: 'transfer', payload: (await order(r)).body } })),

  getMyMembership:      row('401 403 200 200 200 200 200 200 200 403 403 200 403 200', plain),
  listMembers:          row('401 403 200 200 200 200 200 200 200 403 403 200 403 200', plain),
  removeMember: row('401 403 403 403 403 403 403 403 204 403 403 403 403 403',
    async (r) => ({ params: { userId: await r.leaver() } })),

  createInvitation: row('401 404 403 403 403 403 403 403 201 404 404 403 404 403',
    async (r) => ({ body: { email: `guest-${fresh()}@example.org`, groupIds: [await r.group()] } })),
  listInvitations:      row('401 403 403 403 403 403 403 403 200 403 403 403 403 200', plain),
  getInvitation: row('401 404 404 404 404 404 404 404 200 404 404 404 404 404',
    async (r) => ({ params: { id: await r.invitation() } })),
  revokeInvitation: row('401 404 404 404 404 404 404 404 200 404 404 404 404 404',
    async (r) => ({ params: { id: await r.invitation() } })),
  createServiceToken: row('401 403 403 403 403 403 403 403 201 403 403 403 403 403',
    async (r) => ({ body: { name: 'A service', groupIds: [await r.group()] } })),
  listServiceTokens:    row('401 403 403 403 403 403 403 403 200 403 403 403 403 200', plain),
  revokeServiceToken: row('401 403 403 403 403 403 403 403 204 403 403 403 403 403',
    async (r) => ({ params: { id: await r.serviceToken() } })),

  listServiceKeys: row('401 403 403 403 403 403 403 403 200 403 403 403 403 200',
    async (r) => ({ params: { id: (await r.serviceKey()).id } })),
  addServiceKey: row('401 403 403 403 403 403 403 403 201 403 403 403 403 403',
    async (r) => ({ params: { id: await r.serviceToken() }, body: serviceKeyBody() })),
  revokeServiceKey: row('401 403 403 403 403 403 403 403 204 403 403 403 403 403',
    async (r) => ({ params: await r.serviceKey() })),

  getGovernance:        row('401 403 200 200 200 200 200 200 200 403 403 200 403 200', plain),
  updateGovernance: row('401 403 403 403 403 403 403 403 200 403 403 403 403 403',
    () => ({ body: { threshold: 0, looseningDelayHours: 1, tighteningDelayHours: 0 } })),
  listRulesVersions:    row('401 403 200 200 200 200 200 200 200 403 403 200 403 200', plain),
  getRulesVersion: row('401 403 404 404 404 404 404 404 200 403 403 404 403 200',
    async (r) => ({ params: { number: await r.rulesVersion() } }), { ofNumbers: true }),
  compareRulesVersions: row('401 403 404 404 404 404 404 404 200 403 403 404 403 200',
    async (r) => ({ params: { number: await r.rulesVersion() }, query: { to: '1' } }), { ofNumbers: true }),
  // Permitted, but refused because nothing differs.
  rollBackRules: row('401 403 403 403 403 403 403 403 409 403 403 403 403 403',
    async (r) => ({ params: { number: await r.rulesVersion() } }), { ofNumbers: true }),
  listChangeSets:       row('401 403 200 200 200 200 200 200 200 403 403 200 403 200', plain),
  getChangeSet: row('401 403 404 404 404 404 404 404 200 403 403 404 403 200',
    async (r) => ({ params: { id: await r.changeSet() } })),
  createChangeSet: row('401 403 403 403 403 403 403 403 201 403 403 403 403 403', () => ({ body: draftBody() })),
  updateChangeSet: row('401 403 403 403 403 403 403 403 200 403 403 403 403 403',
    async (r) => ({ params: { id: await r.changeSet() }, body: draftBody() })),
  submitChangeSet: row('401 403 403 403 403 403 403 403 200 403 403 403 403 403',
    async (r) => ({ params: { id: await r.changeSet() } })),
  rebaseChangeSet: row('401 403 403 403 403 403 403 403 200 403 403 403 403 403',
    async (r) => ({ params: { id: await r.changeSet() } })),
  cancelChangeSet: row('401 403 403 403 403 403 403 403 200 403 403 403 403 403',
    async (r) => ({ params: { id: await r.changeSet() } })),
  listWithheldTokens:   row('401 403 403 403 403 403 403 403 200 403 403 403 403 200', plain),
  acceptToken: row('401 403 403 403 403 403 403 403 204 403 403 403 403 403',
    async (r) => ({ params: { id: await r.withheldToken() } })),

  createAddress: row('401 403 201 201 201 201 201 201 201 403 403 201 403 403',
    () => ({ body: { network: 'ethereum', segments: { purpose: 'ops' } } })),
  listAddresses:        row('401 403 200 200 200 200 200 200 200 403 403 200 403 200', plain),
  getAddress: row('401 403 200 200 200 200 404 404 200 403 403 404 403 200',
    async (r) => ({ params: { id: await r.address() } })),
  updateAddress: row('401 403 200 404 404 404 404 404 404 403 403 404 403 403',
    async (r) => ({ params: { id: await r.address() }, body: { color: '#1d4ed8' } })),

  listAddressGrants: row('401 403 200 403 403 403 404 404 200 403 403 404 403 200',
    async (r) => ({ params: { id: await r.address() } })),
  createAddressGrant: row('401 403 201 403 403 403 404 404 403 403 403 404 403 403',
    async (r) => ({ params: { id: await r.address() }, body: await grantBody(r) }), { reaches: reachByAddressGrant }),
  deleteAddressGrant:   row('401 403 204 403 403 403 404 404 403 403 403 404 403 403', async (r) => ({ params: await r.addressGrant() })),
  listAddressGroups:    row('401 403 200 200 200 200 200 200 200 403 403 200 403 200', plain),
  createAddressGroup:   row('401 403 201 201 201 201 201 201 201 403 403 201 403 403', () => ({ body: { name: `Folder ${fresh()}` } })),
  getAddressGroup:      row('401 403 200 200 200 200 404 404 200 403 403 404 403 200', ofFolder),
  updateAddressGroup: row('401 403 200 403 403 403 404 404 403 403 403 404 403 403',
    async (r) => ({ ...(await ofFolder(r)), body: { color: '#1d4ed8' } })),
  deleteAddressGroup:   row('401 403 204 403 403 403 404 404 403 403 403 404 403 403', ofFolder),
  listAddressGroupMembers:
    row('401 403 200 200 200 200 404 404 200 403 403 404 403 200', ofFolder),
  addAddressGroupMember: row('401 403 201 403 403 403 404 404 403 403 403 404 403 403',
    async (r) => ({ ...(await ofFolder(r)), body: { addressId: await r.payingAddress() } }), { reaches: reachByFolder }),
  removeAddressGroupMember:
    row('401 403 204 403 403 403 404 404 403 403 403 404 403 403', async (r) => ({ params: await r.folderMember() })),
  listAddressGroupGrants:
    row('401 403 200 403 403 403 404 404 200 403 403 404 403 200', ofFolder),
  createAddressGroupGrant:
    row('401 403 201 403 403 403 404 404 403 403 403 404 403 403',
      async (r) => ({ ...(await ofFolder(r)), body: await grantBody(r) }), { reaches: reachByFolderGrant }),
  deleteAddressGroupGrant:
    row('401 403 204 403 403 403 404 404 403 403 403 404 403 403', async (r) => ({ params: await r.folderGrant() })),

  listPolicySelectors:  row('401 403 200 200 200 200 200 200 200 403 403 200 403 200', plain),
  listInbox:            row('401 200 200 200 200 200 200 200 200 200 200 200 200 200', plain),
  countInbox:           row('401 200 200 200 200 200 200 200 200 200 200 200 200 200', plain),
  listChanges:          row('401 200 200 200 200 200 200 200 200 200 200 200 200 200', plain),
  // The labels of addresses and the names of folders end with it.
  searchVault:           row('401 403 200 200 200 200 200 200 200 403 403 200 403 200', () => ({ query: { q: 'harbour' } })),
  backtestPolicies:      row('401 403 403 403 403 403 403 403 202 403 403 403 403 202',
    () => ({ body: { draft: { mode: 'add', policies: [] }, from: reported.from } })),
  getBacktest: row('401 403 403 403 403 403 403 403 200 403 403 403 403 200',
    async (r) => ({ params: { id: await r.backtest() } })),
  listBacktestChanges: row('401 403 403 403 403 403 403 403 200 403 403 403 403 200',
    async (r) => ({ params: { id: await r.backtest() } })),
  startLedgerVerification:
    row('401 403 403 403 403 403 403 403 202 403 403 403 403 202', plain),
  getLedgerVerification: row('401 403 403 403 403 403 403 403 200 403 403 403 403 200',
    async (r) => ({ params: { id: await r.verification() } })),
  voteOnMany:            row('401 200 200 200 200 200 200 200 200 200 200 200 200 200',
    () => bulkVote('harbour', 'cmi8h2k1p0a1b2c3d4e5f6g7h'), { reaches: reachByVotes }),
  getBalances:          row('401 403 200 200 200 200 200 200 200 403 403 200 403 200', plain),
  listLedgerEntries: row('401 403 200 200 200 200 404 404 200 403 403 404 403 200',
    async (r) => ({ query: { addressId: await r.address(), tokenId: await r.token() } })),
  getBalanceTimeline:   row('401 403 200 200 200 200 200 200 200 403 403 200 403 200', () => ({ query: past })),
  getPastBalance: row('401 403 200 200 200 200 404 404 200 403 403 404 403 200',
    async (r) => ({ query: { addressId: await r.address(), tokenId: await r.token() } })),
  createAdjustment: row('401 403 403 403 403 403 403 403 201 403 403 403 403 403',
    async (r) => ({ body: { addressId: await r.address(), tokenId: await r.token(), amount: '1', reason: 'Opening balance' } })),
  listAdjustments:      row('401 403 403 403 403 403 403 403 200 403 403 403 403 200', plain),
  agreeToAdjustment: row('401 403 403 403 403 403 403 403 202 403 403 403 403 403',
    async (r) => ({ params: { id: await r.adjustment() } })),
  getReconciliation:    row('401 403 403 403 403 403 403 403 200 403 403 403 403 200', plain),
  listDeposits:         row('401 403 200 200 200 200 200 200 200 403 403 200 403 200', plain),
  getDeposit: row('401 403 200 200 200 200 404 404 200 403 403 404 403 200',
    async (r) => ({ params: { id: await r.deposit() } })),
  listHistory:          row('401 403 200 200 200 200 200 200 200 403 403 200 403 200', plain),

  createTransfer:       row('401 403 201 403 403 201 404 404 403 403 403 404 403 403', order, { reaches: reachByOrder }),
  previewTransfer:      row('401 403 200 403 403 200 404 404 403 403 403 404 403 403', order),
  listTransfers:        row('401 403 200 200 200 200 200 200 200 403 403 200 403 200', plain),
  getTransfer:          row('401 403 200 200 200 200 404 200 200 403 403 404 403 200', ofTransfer),
  getTransferEvidence:  row('401 403 403 403 403 403 403 403 200 403 403 403 403 200', ofTransfer),
  approveTransfer: row('401 403 403 403 403 403 404 200 403 403 403 404 403 403',
    async (r) => ({ ...(await ofTransfer(r)), body: {} })),
  rejectTransfer: row('401 403 403 403 403 403 404 200 403 403 403 404 403 403',
    async (r) => ({ ...(await ofTransfer(r)), body: {} })),
  previewTransferReplacement: row('401 403 409 403 403 403 404 403 409 403 403 404 403 403', ofTransfer),
  speedUpTransfer:      row('401 403 409 403 403 403 404 403 409 403 403 404 403 403', ofReplacement),
  cancelTransferOnChain: row('401 403 409 403 403 403 404 403 409 403 403 404 403 403', ofReplacement),
  cancelTransfer:       row('401 403 200 403 403 403 404 403 200 403 403 404 403 403', ofTransfer),
  resolveWalletEvent:   row('401 403 404 404 404 404 404 404 202 403 403 404 403 403',
    async (r) => ({ params: { id: await r.quarantined() }, body: { outcome: 'dismiss', reason: 'Nobody paid this' } })),
  resolveTransfer:      row('401 403 403 403 403 403 404 403 409 403 403 404 403 403',
    async (r) => ({ ...(await ofTransfer(r)), body: { outcome: 'resume', reason: 'It is not stuck' } })),

  listHolds:            row('401 403 200 200 200 200 200 200 200 403 403 200 403 200', plain),
  getHold:              row('401 403 200 404 404 404 404 404 200 403 403 404 403 200', ofHold),
  placeHold:            row('401 403 403 403 403 403 403 201 201 403 403 403 403 403', toHold, { reaches: reachByHold }),
  confirmHold: row('401 403 403 403 403 403 403 404 200 403 403 403 403 403',
    async (r) => ({ params: { id: await r.holdOnPerson() } })),
  releaseHold:          row('401 403 403 404 404 404 404 404 202 403 403 403 403 403', ofRelease),
  createPayout:         row('401 403 201 403 403 201 404 404 403 403 403 404 403 403', payout, { reaches: reachByPayout }),
  previewPayout:        row('401 403 200 403 403 200 404 404 403 403 403 404 403 403', payout),
  checkRecipients:      row('401 403 200 200 200 200 200 200 200 403 403 200 403 200', toCheck),
  listPayouts:          row('401 403 200 200 200 200 200 200 200 403 403 200 403 200', plain),
  getPayout:            row('401 403 200 404 404 404 404 200 200 403 403 404 403 200', ofPayout),
  listPayoutRows:       row('401 403 200 404 404 404 404 200 200 403 403 404 403 200', ofPayout),
  approvePayout:        row('401 403 403 404 404 404 404 200 403 403 403 404 403 403', async (r) => ({ ...(await ofPayout(r)), body: {} })),
  rejectPayout:         row('401 403 403 404 404 404 404 200 403 403 403 404 403 403', async (r) => ({ ...(await ofPayout(r)), body: {} })),
  cancelPayout:         row('401 403 200 404 404 404 404 403 200 403 403 404 403 403', ofPayout),

  listOperationCategories:
    row('401 403 200 200 200 200 200 200 200 403 403 200 403 200', plain),
  createOperationCategory:
    row('401 403 403 403 403 403 403 403 201 403 403 403 403 403', () => ({ body: { key: `category_${fresh()}`, name: 'A category' } })),
  getOperationCategory: row('401 403 200 200 200 200 200 200 200 403 403 200 403 200', ofCategory),
  updateOperationCategory:
    row('401 403 403 403 403 403 200 403 200 403 403 403 403 403', async (r) => ({ ...(await ofCategory(r)), body: { name: 'Renamed' } })),
  addCategoryField: row('401 403 403 403 403 403 201 403 201 403 403 403 403 403',
    async (r) => ({ ...(await ofCategory(r)), body: { key: `field_${fresh()}`, label: 'A field', type: 'text' } })),
  updateCategoryField: row('401 403 403 403 403 403 200 403 200 403 403 403 403 403',
    async (r) => ({ params: await r.categoryField(), body: { label: 'Renamed' } })),
  deleteCategoryField:  row('401 403 403 403 403 403 204 403 204 403 403 403 403 403', async (r) => ({ params: await r.categoryField() })),
  replaceCategoryGrants: row('401 403 403 403 403 403 403 403 200 403 403 403 403 403',
    async (r) => ({ ...(await ofCategory(r)), body: { grants: [categoryGrant(await r.group())] } }), { reaches: reachByCategoryGrant }),
  replaceCategoryApprovers:
    row('401 403 403 403 403 403 403 403 200 403 403 403 403 403',
      async (r) => ({ ...(await ofCategory(r)), body: { approvers: [{ kind: 'group', groupId: await r.group() }] } }),
        { reaches: reachByCategoryApprover }),

  listCategoryAssignments:
    row('401 403 200 200 200 200 404 200 200 403 403 404 403 200', ofAssigned),
  listAvailableCategories:
    row('401 403 200 200 200 200 404 200 200 403 403 404 403 200', ofOperation),
  assignCategory: row('401 403 201 403 403 403 404 403 201 403 403 404 403 403',
    async (r) => ({ params: { type: 'transfer', id: await r.transfer(), categoryId: await r.category() }, body: { values: {} } }),
      { reaches: reachByAssignment }),
  unassignCategory:     row('401 403 204 403 403 403 404 403 204 403 403 404 403 403', async (r) => ({ params: await r.assignment() })),
  addOperationRate: row('401 403 403 403 403 403 403 403 200 403 403 403 403 403',
    async (r) => ({ params: { type: 'transfer', id: await r.lateRatedTransfer() } })),
  updateOperationMetadata:
    row('401 403 200 403 403 403 404 403 403 403 403 404 403 403', async (r) => ({ ...(await ofOperation(r)), body: { note: 'Agreed' } })),

  listOperationRelations:
    row('401 403 200 200 200 200 200 200 200 403 403 200 403 200', plain),
  createOperationRelation:
    row('401 403 201 403 403 403 404 404 201 403 403 404 403 403', relationOf, { reaches: reachByRelation }),
  deleteOperationRelation:
    row('401 403 204 403 403 403 404 404 204 403 403 404 403 403', async (r) => ({ params: { id: await r.relation() } })),
  listRelationsOfOperation:
    row('401 403 200 200 200 200 404 200 200 403 403 404 403 200', ofOperation),

  listCounterparties:   row('401 403 200 200 200 200 200 200 200 403 403 200 403 200', plain),
  createCounterparty: row('401 403 201 201 201 201 201 201 201 403 403 201 403 403',
    () => ({ body: { name: `Supplier ${fresh()}`, kind: 'company',
      addresses: [{ network: 'ethereum', address: fakeAddress(`supplier ${fresh()}`) }] } })),
  getCounterparty: row('401 403 200 200 200 200 200 200 200 403 403 200 403 200',
    async (r) => ({ params: { id: await r.counterparty() } })),
  updateCounterparty: row('401 403 200 200 200 200 200 200 200 403 403 200 403 403',
    async (r) => ({ params: { id: await r.counterparty() }, body: { name: `Supplier ${fresh()}` } })),
  archiveCounterparty: row('401 403 200 200 200 200 200 200 200 403 403 200 403 403',
    async (r) => ({ params: { id: await r.counterparty() } })),
  addCounterpartyAddress:
    row('401 403 201 201 201 201 201 201 201 403 403 201 403 403',
      async (r) => ({ params: { id: await r.counterparty() },
        body: { network: 'ethereum', address: fakeAddress(`supplier ${fresh()}`) } })),
  removeCounterpartyAddress:
    row('401 403 204 204 204 204 204 204 204 403 403 204 403 403', async (r) => ({ params: await r.counterpartyAddress() })),
  listCounterpartyGroups:
    row('401 403 200 200 200 200 200 200 200 403 403 200 403 200', plain),
  createCounterpartyGroup:
    row('401 403 201 201 201 201 201 201 201 403 403 201 403 403', () => ({ body: { code: `suppliers-${fresh()}`, name: 'Suppliers' } })),
  getCounterpartyGroup:
    row('401 403 200 200 200 200 200 200 200 403 403 200 403 200', async (r) => ({ params: { id: await r.counterpartyGroup() } })),
  updateCounterpartyGroup:
    row('401 403 200 200 200 200 200 200 200 403 403 200 403 403',
      async (r) => ({ params: { id: await r.counterpartyGroup() }, body: { name: 'Renamed' } })),
  archiveCounterpartyGroup:
    row('401 403 200 200 200 200 200 200 200 403 403 200 403 403', async (r) => ({ params: { id: await r.counterpartyGroup() } })),
  listCounterpartyGroupMembers:
    row('401 403 200 200 200 200 200 200 200 403 403 200 403 200', async (r) => ({ params: { id: await r.counterpartyGroup() } })),
  addCounterpartyGroupMember:
    row('401 403 201 201 201 201 201 201 201 403 403 201 403 403',
      async (r) => ({ params: { id: await r.counterpartyGroup() }, body: { counterpartyId: await r.counterparty() } }),
        { reaches: reachByMember }),
  removeCounterpartyGroupMember:
    row('401 403 204 204 204 204 204 204 204 403 403 204 403 403', async (r) => ({ params: await r.counterpartyMember() })),

  listApprovalRequests: row('401 403 200 200 200 200 200 200 200 403 403 200 403 200', plain),
  createCompositeApprovalRequest:
    row('401 403 200 200 200 200 200 200 200 403 403 200 403 403',
      () => ({ body: { steps: [{ action: 'counterparty_create', payload: { name: `Supplier ${fresh()}`, kind: 'company' } }] } })),
  getApprovalRequest: row('401 403 200 404 404 404 404 200 200 403 403 404 403 200',
    async (r) => ({ params: { id: await r.approvalRequest() } })),
  approveApprovalRequest:
    row('401 403 403 404 404 404 404 200 403 403 403 404 403 403', async (r) => ({ params: { id: await r.approvalRequest() }, body: {} })),
  rejectApprovalRequest:
    row('401 403 403 404 404 404 404 200 403 403 403 404 403 403', async (r) => ({ params: { id: await r.approvalRequest() }, body: {} })),
  cancelApprovalRequest:
    row('401 403 200 404 404 404 404 403 200 403 403 404 403 403', async (r) => ({ params: { id: await r.approvalRequest() } })),

  reportAddressActivity: row('401 403 200 200 200 200 404 404 200 403 403 404 403 200',
    reportOf(async (r) => ({ addressId: await r.address() }))),
  reportCounterpartyActivity:
    row('401 403 200 200 200 200 200 200 200 403 403 200 403 200', reportOf(async (r) => ({ counterpartyId: await r.counterparty() }))),
  reportCounterpartyGroupActivity:
    row('401 403 200 200 200 200 200 200 200 403 403 200 403 200',
      reportOf(async (r) => ({ counterpartyGroupId: await r.counterpartyGroup() }))),
  reportTransactionActivity:
    row('401 403 200 200 200 200 200 200 200 403 403 200 403 200', reportOf(plain)),
  reportAssetMovement:  row('401 403 200 200 200 200 200 200 200 403 403 200 403 200', reportOf(plain)),
  reportAccountStatement:
    row('401 403 200 200 200 200 404 404 200 403 403 404 403 200',
      reportOf(async (r) => ({ addressId: await r.address(), tokenId: await r.token() }))),
  reportOperationsExceptions:
    row('401 403 200 200 200 200 200 200 200 403 403 200 403 200', reportOf(plain)),
  // The columns are those of the rows above.
  reportOperations:     row('401 403 200 200 200 200 200 200 200 403 403 200 403 200', reportOf(plain)),
  reportFees:           row('401 403 200 200 200 200 200 200 200 403 403 200 403 200', reportOf(plain)),
  reportApprovalActivity:
    row('401 403 200 200 200 200 200 200 200 403 403 200 403 200', reportOf(plain)),
  reportCategoryAnalytics:
    row('401 403 200 200 200 200 200 200 200 403 403 200 403 200', reportOf(async (r) => ({ categoryKey: await r.categoryKey() }))),

  // An export covers what its requester may see, and only the requester can download it.
  createReportExport: row('401 403 202 202 202 202 404 404 202 403 403 404 403 202',
    async (r) => ({ params: { type: 'address_activity' },
      body: { ...reported, format: 'csv', includeShared: true, addressId: await r.address() } })),
  createAuditorArchive: row('401 403 403 403 403 403 403 403 202 403 403 403 403 202',
    () => ({ body: { from: past.from, to: past.to } })),
  listReportExports:    row('401 403 200 200 200 200 200 200 200 403 403 200 403 200', plain),
  getReportExport: row('401 403 200 404 404 404 404 404 404 403 403 404 403 404',
    async (r) => ({ params: { id: await r.reportExport() } })),
  downloadReportExport: row('401 403 200 404 404 404 404 404 404 403 403 404 403 404',
    async (r) => ({ params: { id: await r.reportExport() } })),

  listAuditRecords:     row('401 403 403 403 403 403 403 403 200 403 403 403 403 200', plain),
  listAuditSeals:       row('401 403 403 403 403 403 403 403 200 403 403 403 403 200', plain),
  listPlatformAuditSeals: row('401 403 403 403 403 403 403 403 403 403 200 403 403 403', plain, { namesVaults: true }),
  listPlatformAuditRecords:
    row('401 403 403 403 403 403 403 403 403 403 200 403 403 403', plain, { namesVaults: true, namesPeople: true }),
  getOffboarding: row('401 403 403 403 403 403 403 403 403 403 200 403 403 403',
    async (r) => ({ params: { id: await r.leaver() } }), { namesVaults: true }),
  listUserSessions: row('401 403 403 403 403 403 403 403 403 403 200 403 403 403',
    async (r) => ({ params: { id: await r.leaver() } })),
  signOutUserEverywhere: row('401 403 403 403 403 403 403 403 403 403 200 403 403 403',
    async (r) => ({ params: { id: await r.leaver() } })),
  disableUser: row('401 403 403 403 403 403 403 403 403 403 200 403 403 403',
    async (r) => ({ params: { id: await r.leaver() }, body: { reason: 'Left the company' } }), { namesVaults: true }),
  enableUser: row('401 403 403 403 403 403 403 403 403 403 200 403 403 403',
    async (r) => ({ params: { id: await r.disabledUser() }, body: { reason: 'Came back' } }), { namesVaults: true }),
  listPlatformUsers:    row('401 403 403 403 403 403 403 403 403 403 200 403 403 403', plain, { namesVaults: true, namesPeople: true }),
}

// A report answers a body as it answers a query.
for (const [operationId, { expected, request }] of Object.entries(expectations)) {
  if (!operationId.startsWith('report')) continue
  expectations[`post${operationId.replace('report', 'Report')}`] = {
    expected,
    request: async (r) => ({ body: { ...(await request(r)).query, includeShared: true } }),
  }
}

/** The statuses in the order of the callers. A directory is answered as nobody unless the row says otherwise. */
function row(statuses: string, request: Row['request'], more: Omit<Row, 'expected' | 'request'> = {}): Row {
  const numbers = statuses.trim().split(/\s+/).map(Number)
  const expected = Object.fromEntries(callerNames.map((name, column) => [name, numbers[column] ?? numbers[0]]))
  return { expected: expected as Record<CallerName, number>, request, ...more }
}

/** The approvers and rules of a policy name resources too. */
async function reachByPolicy(resources: Resources, strange: Resources): Promise<Request[]> {
  const params = { id: await resources.group() }
  const rule = (selectorType: string, value: string) => [
    { conditionType: 'require', selectors: [{ selectorType, value }] },
  ]
  const transferPolicy = () => ({ ...policyBody(), actionType: 'transfer', enabled: false })
  return [
    { params, body: { ...policyBody(), approvers: [{ kind: 'group', groupId: await strange.group() }] } },
    { params, body: { ...transferPolicy(), rules: rule('sourceAddress', await strange.address()) } },
    { params, body: { ...transferPolicy(), rules: rule('initiatorGroup', await strange.group()) } },
  ]
}

/** An order may name a counterparty. */
async function reachByOrder(resources: Resources, strange: Resources): Promise<Request[]> {
  const { body } = await order(resources)
  return [{ body: { ...body, counterpartyId: await strange.counterparty() } }]
}

async function reachByHold(_: Resources, strange: Resources): Promise<Request[]> {
  return [
    holdOf('address', await strange.address()),
    holdOf('deposit', await strange.deposit()),
    holdOf('transfer', await strange.transfer()),
    holdOf('counterparty', await strange.counterparty()),
  ]
}

async function reachByPayout(resources: Resources, strange: Resources): Promise<Request[]> {
  const { body } = await payout(resources)
  const [row] = body.rows
  return [{ body: { ...body, rows: [{ ...row, counterpartyId: await strange.counterparty() }] } }]
}

/** A grant names its subject. */
async function reachByAddressGrant(resources: Resources, strange: Resources): Promise<Request[]> {
  return [{ params: { id: await resources.address() }, body: await grantBody(strange) }]
}

async function reachByFolderGrant(resources: Resources, strange: Resources): Promise<Request[]> {
  return [{ params: { id: await resources.folder() }, body: await grantBody(strange) }]
}

async function reachByFolder(resources: Resources, strange: Resources): Promise<Request[]> {
  return [{ params: { id: await resources.folder() }, body: { addressId: await strange.address() } }]
}

async function reachByMember(resources: Resources, strange: Resources): Promise<Request[]> {
  const params = { id: await resources.counterpartyGroup() }
  return [{ params, body: { counterpartyId: await strange.counterparty() } }]
}

async function reachByRelation(resources: Resources, strange: Resources): Promise<Request[]> {
  return [
    { body: relationBody(await strange.transfer(), await resources.deposit()) },
    { body: relationBody(await resources.transfer(), await strange.deposit()) },
  ]
}

async function reachByCategoryGrant(resources: Resources, strange: Resources): Promise<Request[]> {
  return [{ params: { id: await resources.category() }, body: { grants: [categoryGrant(await strange.group())] } }]
}

async function reachByCategoryApprover(resources: Resources, strange: Resources): Promise<Request[]> {
  const approvers = [{ kind: 'group', groupId: await strange.group() }]
  return [{ params: { id: await resources.category() }, body: { approvers } }]
}

async function reachByAssignment(resources: Resources, strange: Resources): Promise<Request[]> {
  const params = { type: 'transfer', id: await resources.transfer(), categoryId: await strange.category() }
  return [{ params, body: { values: {} } }]
}

function tokenBody() {
  const code = `T${fresh()}`
  const contractAddress = fakeAddress(`contract of ${code}`)
  return { network: 'ethereum', code, symbol: code, name: code, decimals: 6, contractAddress }
}

/** So old that every operation refuses it. */
function rateBody() {
  const asOf = new Date(Date.now() - 86_400_000 + fresh()).toISOString()
  return { usdRate: '3000', asOf, source: 'manual' }
}

function variantBody() {
  const id = 1000 + fresh()
  return { id, code: `variant-${id}`, name: 'A variant' }
}

function walletEvent() {
  const txHash = fakeTxHash(`event ${fresh()}`)
  return {
    kind: 'TOPUP',
    tx: { network: 'ethereum', asset: null, amount: '1', toAddress: fakeAddress('nobody'), txHash },
  }
}

const bulkVote = (vaultCode: string, id: string) => ({
  body: { votes: [{ vaultCode, kind: 'transfer', id, decision: 'approve', payloadHash: '0'.repeat(64) }] },
})

/** A vote names its vault and its transfer. */
async function reachByVotes(resources: Resources, strange: Resources): Promise<Request[]> {
  return [bulkVote(resources.code, await strange.transfer())]
}
