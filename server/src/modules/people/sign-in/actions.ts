import { userInfo } from 'node:os'
import type { Insertable } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import type { MagicLinks } from '../../../db/types.ts'
import type { Deps } from '../../../deps.ts'
import { notFound } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { codesPerLinkMax, magicLinkTtlMinutes } from '../../../lib/limits.ts'
import { equalsSecret, newCode, newSecret, sha256 } from '../../../lib/secrets.ts'
import { senderOf } from '../../../lib/sender.ts'
import { enqueueMail } from '../../../mail/queue.ts'
import { insertAuditRecords } from '../../record/audit/record.ts'
import { listVaultIdsOf } from '../../rules/policy-groups/memberships.ts'
import { acceptInvitations, lockPendingInvitations } from '../invitations/actions.ts'
import { hasPendingInvitation } from '../invitations/queries.ts'
import { verifyAssertion } from '../passkeys/passkey-answer.ts'
import type { Assertion } from '../passkeys/schema.ts'
import { announceUse } from '../providers/break-glass.ts'
import { waysBesideProvider } from '../providers/enforcement.ts'
import { ensureUser } from '../users/actions.ts'
import type { ProfileRow } from '../users/queries.ts'
import { type Device, hashOfCookie, isDeviceOf } from './devices.ts'
import { findUser, findUserByEmail, hasEnoughLiveLinks, lockToSignIn } from './queries.ts'
import { type OpenedSession, openSession, type SessionProvider, type SignInMethod } from './sessions.ts'
import { countSignInAttempt, lockEmail } from './sign-in-limit.ts'

/** The queued mail with a sign-in link, sent if the e-mail address may sign in. Digests are in base64url; it holds no secret. */
export type MagicLinkRequest = {
  kind: 'magic-link'
  mailId: string
  requestedAt: string
  email: string
  bindingHash: string | null
  redirectTo: string | null
  invitationHash: string | null
  /** True if the person of the e-mail address signed in before from the device of this request. */
  isKnownDevice: boolean
  /** True if a passkey of a break-glass person answered in that browser. Older queued mails lack the field. */
  breakGlass?: boolean
}

/**
 * Counts the request and enqueues its mail. The only lookup with the e-mail address says if the device cookie belongs to its
 * person, so that neither the answer nor its time reveals if the address is known.
 * @throws 429 when the sender made too many requests, for this e-mail address or in all
 */
export async function requestMagicLink(
  trx: Trx,
  request: {
    email: string
    redirectTo: string | null
    invitationToken: string | null
    binding: string
    deviceCookie: string | null
    ip: string
  },
  now: Date,
): Promise<void> {
  const email = request.email.toLowerCase()
  const { deviceCookie } = request
  const isKnownDevice = deviceCookie !== null && (await isDeviceOf(trx, email, deviceCookie))
  // A known device is counted separately, so that others in the same network cannot lock it out.
  const sender = isKnownDevice ? `device ${toText(hashOfCookie(deviceCookie))}` : senderOf(request.ip)
  await countSignInAttempt(trx, email, sender, now)
  const job: MagicLinkRequest = {
    kind: 'magic-link',
    mailId: newId(now),
    requestedAt: now.toISOString(),
    email,
    bindingHash: toText(sha256(request.binding)),
    redirectTo: request.redirectTo,
    invitationHash: request.invitationToken === null ? null : toText(sha256(request.invitationToken)),
    isKnownDevice,
  }
  await enqueueMail(trx, job, now)
}

/**
 * Creates the token of a sign-in link and the code that is required on another device, and stores their digests.
 * Returns null when the e-mail address may not sign in by a link, or when the request comes from an unknown device and the address
 * has the maximum of working links. These links stay valid, so that strangers can neither flood a mailbox nor lock its owner out.
 */
export async function issueMagicLink(
  trx: Trx,
  { sealer }: Pick<Deps, 'sealer'>,
  request: Omit<MagicLinkRequest, 'kind' | 'requestedAt'>,
  now: Date,
): Promise<{ token: string; code: string } | null> {
  const { email, mailId, redirectTo } = request
  if (!(await maySignIn(trx, email, fromText(request.invitationHash)))) return null
  const breakGlass = request.breakGlass === true
  if (!isLinkEnough(await waysBesideProvider(trx, email), breakGlass)) return null
  if (!request.isKnownDevice) {
    await lockEmail(trx, email)
    if (await hasEnoughLiveLinks(trx, email, mailId, now)) return null
  }
  const token = newSecret()
  const code = newCode()
  await insertMagicLink(
    trx,
    {
      token_hash: sha256(token),
      email,
      mail_id: mailId,
      code_hash: hashOfCode(sealer, token, code),
      binding_hash: fromText(request.bindingHash),
      redirect_to: redirectTo,
      break_glass: breakGlass,
    },
    now,
  )
  return { token, code }
}

/** The queued mail that notifies a person of a sign-in link that an operator created for them. */
export type OperatorLinkNotice = {
  kind: 'operator-link'
  mailId: string
  email: string
  operator: string
  createdAt: string
}

/**
 * Creates a sign-in link that an operator hands over instead of a mail. It leads to the confirm page in any browser and
 * requires no code. The operator could use it to sign in as the person, so it is recorded and the person is notified.
 * @throws 404 when no person has the e-mail address
 */
export async function createSignInLink(
  trx: Trx,
  deps: Pick<Deps, 'publicOrigin'>,
  address: string,
  now: Date,
  redirectTo: string | null = null,
): Promise<string> {
  const email = address.toLowerCase()
  if (!(await maySignIn(trx, email, null))) throw notFound('User')
  const token = newSecret()
  await insertMagicLink(trx, { token_hash: sha256(token), email, by_operator: true, redirect_to: redirectTo }, now)
  const user = await findUserByEmail(trx, email)
  const operator = nameOfOperator()
  const target = { targetType: 'user', targetId: user?.id ?? null }
  const event = { actorId: null, action: 'operator.sign_in_link_created', ...target, details: { email, operator }, now }
  await insertAuditRecords(trx, event, user === null ? [] : await listVaultIdsOf(trx, user.id))
  const notice: OperatorLinkNotice = {
    kind: 'operator-link',
    mailId: newId(now),
    email,
    operator,
    createdAt: now.toISOString(),
  }
  await enqueueMail(trx, notice, now)
  return `${deps.publicOrigin()}/sign-in/confirm?token=${token}`
}

/** Returns the account of the operating system that this process runs as. In a container it may be a number without a name. */
export function nameOfOperator(): string {
  try {
    return userInfo().username
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`
  }
}

export type SignedIn = OpenedSession & { user: ProfileRow; redirectTo: string | null }

/**
 * Redeems a sign-in link in one transaction: starts a session, creates the person at their first sign-in, and accepts every
 * pending invitation of the e-mail address. With `binding`, only the link that this browser requested is redeemed. Returns null
 * when the link is unknown, used, expired or bound to another browser, or when the e-mail address may no longer sign in.
 */
export async function redeemMagicLink(
  trx: Trx,
  deps: Pick<Deps, 'config'>,
  { token, binding, device }: { token: string; binding?: string; device: Device },
  now: Date,
): Promise<SignedIn | null> {
  let claim = trx.deleteFrom('magic_links').where('token_hash', '=', sha256(token)).where('expires_at', '>', now)
  claim =
    binding === undefined ? claim.where('break_glass', '=', false) : claim.where('binding_hash', '=', sha256(binding))
  const link = await claim.returning(['email', 'redirect_to', 'by_operator', 'break_glass']).executeTakeFirst()
  return link === undefined ? null : signInByLink(trx, deps, { ...link, method: 'magic_link', device }, now)
}

/**
 * Redeems a sign-in link in a browser that did not request it, with the code that the mail shows beside the link. Mail
 * scanners, which follow links and press buttons, do not enter the code. After too many wrong codes the link is invalid.
 */
export async function redeemWithCode(
  trx: Trx,
  deps: Pick<Deps, 'config' | 'sealer'>,
  { token, code, device }: { token: string; code: string; device: Device },
  now: Date,
): Promise<SignedIn | { codesLeft: number } | null> {
  const links = trx.selectFrom('magic_links').where('token_hash', '=', sha256(token)).where('expires_at', '>', now)
  const link = await links
    .select(['email', 'redirect_to', 'by_operator', 'break_glass', 'code_hash', 'wrong_codes'])
    .where('break_glass', '=', false)
    .forUpdate()
    .executeTakeFirst()
  if (link === undefined) return null
  if (link.code_hash !== null && !equalsSecret(link.code_hash, hashOfCode(deps.sealer, token, code))) {
    const codesLeft = codesPerLinkMax - link.wrong_codes - 1
    if (codesLeft === 0) await deleteMagicLink(trx, token)
    else await countWrongCode(trx, token)
    return { codesLeft }
  }
  await deleteMagicLink(trx, token)
  return signInByLink(trx, deps, { ...link, method: link.code_hash === null ? 'magic_link' : 'code', device }, now)
}

/** Returns the purpose of a passkey answer that signs in the browser with this cookie. */
export const signInPurpose = (binding: string) =>
  ({ for: 'sign-in', bindingHash: sha256(binding).toString('base64url') }) as const

/**
 * Signs in the person whose passkey answered. Returns null when the answer is not valid, when the person may not sign in, and when
 * their provider is enforced. A break-glass person gets a mailed link instead, which works in the browser with `linkBinding`.
 */
export async function signInWithPasskey(
  trx: Trx,
  deps: Pick<Deps, 'config' | 'sealer' | 'publicOrigin'>,
  { credential, binding, linkBinding, device }: PasskeyArrival,
  now: Date,
): Promise<SignedIn | 'link_required' | null> {
  const found = await verifyAssertion(trx, deps, { assertion: credential, purpose: signInPurpose(binding) }, now)
  if (found === null) return null
  const user = await findUser(trx, 'id', found.userId)
  if (user === null || !(await lockToSignIn(trx, user.id))) return null
  const ways = user.email === null ? 'none' : await waysBesideProvider(trx, user.email)
  if (ways === 'break_glass') {
    await enqueueBreakGlassLink(trx, { email: user.email!, linkBinding }, now)
    return 'link_required'
  }
  if (ways === 'none') return null
  const session = await openSession(trx, deps, { user, method: 'passkey', device }, now)
  return { ...session, user, redirectTo: null }
}

type PasskeyArrival = { credential: Assertion; binding: string; linkBinding: string; device: Device }

/** Queues the mail with the link of a break-glass person. The limit of links for unknown devices applies. */
async function enqueueBreakGlassLink(
  trx: Trx,
  { email, linkBinding }: { email: string; linkBinding: string },
  now: Date,
): Promise<void> {
  const job: MagicLinkRequest = {
    kind: 'magic-link',
    mailId: newId(now),
    requestedAt: now.toISOString(),
    email,
    bindingHash: toText(sha256(linkBinding)),
    redirectTo: null,
    invitationHash: null,
    isKnownDevice: false,
    breakGlass: true,
  }
  await enqueueMail(trx, job, now)
}

/** Returns true if a mailed link opens a session for an e-mail address with these ways to sign in. */
const isLinkEnough = (ways: Awaited<ReturnType<typeof waysBesideProvider>>, breakGlass: boolean): boolean =>
  ways === 'all' || (ways === 'break_glass' && breakGlass)

type ArrivedLink = {
  email: string
  redirect_to: string | null
  by_operator: boolean
  break_glass: boolean
  method: SignInMethod
  device: Device
}

async function signInByLink(
  trx: Trx,
  deps: Pick<Deps, 'config'>,
  link: ArrivedLink,
  now: Date,
): Promise<SignedIn | null> {
  const { email, device } = link
  // The link of an operator works also where a provider is enforced, so that nobody is locked out for good.
  const ways = link.by_operator ? 'all' : await waysBesideProvider(trx, email)
  if (!isLinkEnough(ways, link.break_glass)) return null
  const method = link.by_operator ? 'operator_link' : ways === 'break_glass' ? 'break_glass' : link.method
  const opened = await signInPerson(trx, deps, { email, device, method }, now)
  if (opened === null) return null
  if (method === 'break_glass') {
    const { ip, userAgent } = device
    const use = { userId: opened.user.id, email, ip, userAgent, until: opened.endsAt }
    await announceUse(trx, use, now)
  }
  return { ...opened, redirectTo: link.redirect_to }
}

type Entering = { email: string; method: SignInMethod; device: Device; provider?: SessionProvider | undefined }

/**
 * Signs in the person of an e-mail address that was proven, creates them at their first sign-in, and accepts every pending
 * invitation of the address. Returns null when the address may not sign in.
 */
export async function signInPerson(
  trx: Trx,
  deps: Pick<Deps, 'config'>,
  { email, method, device, provider }: Entering,
  now: Date,
): Promise<Omit<SignedIn, 'redirectTo'> | null> {
  // The lock comes first, so that no revocation or other sign-in changes what is read after it.
  const invitations = await lockPendingInvitations(trx, email)
  const known = await findUserByEmail(trx, email)
  if (known === null && invitations === 0) return null
  const user = known ?? (await ensureUser(trx, email, now))
  if (!(await lockToSignIn(trx, user.id))) return null
  if (invitations > 0) await acceptInvitations(trx, email, user.id, now)
  const accepts = invitations > 0 && method !== 'operator_link' && method !== 'break_glass' && provider === undefined
  // This runs after the invitations, so that the sign-in is also recorded for the vaults that were just joined.
  const session = await openSession(trx, deps, { user, method: accepts ? 'invitation' : method, device, provider }, now)
  return { ...session, user }
}

/** Returns true if the person of an e-mail address may sign in: as a user, or as an invited person without a user. */
export async function maySignIn(trx: Trx, email: string, invitationHash: Buffer | null): Promise<boolean> {
  const user = await findUserByEmail(trx, email)
  return user === null ? hasPendingInvitation(trx, email, invitationHash) : user.may_sign_in
}

async function insertMagicLink(
  trx: Trx,
  link: Omit<Insertable<MagicLinks>, 'created_at' | 'expires_at'>,
  now: Date,
): Promise<void> {
  const expiresAt = new Date(now.getTime() + magicLinkTtlMinutes * 60_000)
  await trx
    .insertInto('magic_links')
    .values({ ...link, created_at: now, expires_at: expiresAt })
    .execute()
}

async function deleteMagicLink(trx: Trx, token: string): Promise<void> {
  await trx.deleteFrom('magic_links').where('token_hash', '=', sha256(token)).execute()
}

async function countWrongCode(trx: Trx, token: string): Promise<void> {
  await trx
    .updateTable('magic_links')
    .set((row) => ({ wrong_codes: row('wrong_codes', '+', 1) }))
    .where('token_hash', '=', sha256(token))
    .execute()
}

/** Returns a keyed hash that includes the token, so that a copy of the database alone does not let anyone find codes by trial. */
const hashOfCode = (sealer: Deps['sealer'], token: string, code: string): Buffer =>
  sealer.mac('sign-in code', `${token} ${code}`)

const toText = (digest: Buffer): string => digest.toString('base64url')
const fromText = (text: string | null): Buffer | null => (text === null ? null : Buffer.from(text, 'base64url'))
