import { stat } from 'node:fs/promises'
import type pg from 'pg'
import { cancellingVotes } from './authority/decide.ts'
import { contactsOf, delayHoursOf, trustsServicePage } from './authority/delay.ts'
import type { AnyAuthority } from './authority/documents.ts'
import { refusalOfDecimals, type Surroundings } from './authority/fit.ts'
import { showProtection } from './authority/protection.ts'
import { toText } from './authority/refusal.ts'
import { AuthorityStore, AuthorityUnavailableError, type Shown } from './authority/store.ts'
import { describeNodeError } from './chains/node-error.ts'
import { firstHostOf, urlsOfHosts } from './database/hosts.ts'

/** A finding for the operator about access to the keys, the orders and the authorities. */
export type Finding = { isRight: boolean; sentence: string }

const right = (sentence: string): Finding => ({ isRight: true, sentence })
const wrong = (sentence: string): Finding => ({ isRight: false, sentence })

type Place = {
  databaseUrl: string
  /** The URL of the database of the service, if the operator permits the comparison. */
  serviceDatabaseUrl?: string | undefined
  authorityDir?: string | undefined
  around: Pick<Surroundings, 'chains' | 'sendsMail'>
}

export async function examine(pool: pg.Pool, place: Place): Promise<Finding[]> {
  return [
    ...(await examineRole(pool)),
    ...compareCredentials(place),
    ...(place.authorityDir === undefined ? [] : await examineDirectory(place.authorityDir)),
    ...(await examineAuthorities(pool, place)),
  ]
}

/** A table that only the service has. */
const serviceTable = 'audit_seals'

async function examineRole(pool: pg.Pool): Promise<Finding[]> {
  const { rows } = await pool.query<{ role: string; is_superuser: boolean; is_shared: boolean; others: string[] }>(
    `select current_user::text as role,
       (select rolsuper from pg_roles where rolname = current_user) as is_superuser,
       exists (select from pg_tables where tablename = $1 and schemaname <> 'wallet') as is_shared,
       array(select rolname::text from pg_roles
         where rolcanlogin and not rolsuper and rolname <> current_user
           and has_table_privilege(oid, 'wallet.transfers', 'insert, update') order by rolname) as others`,
    [serviceTable],
  )
  const { role, is_superuser, is_shared, others } = rows[0]!
  return [
    is_superuser
      ? wrong(`the role ${role} is a superuser of its database server`)
      : right(`${role} is not a superuser`),
    is_shared
      ? wrong('the service keeps its tables in the same database; give the wallet service one of its own')
      : right('the database has no tables of the service'),
    others.length > 0
      ? wrong(`other roles may write orders: ${others.join(', ')}`)
      : right('no other role may write orders, superusers of the database server excepted'),
  ]
}

function compareCredentials({ databaseUrl, serviceDatabaseUrl }: Place): Finding[] {
  if (serviceDatabaseUrl === undefined || !urlsOfHosts(serviceDatabaseUrl).every((single) => URL.canParse(single))) {
    return [wrong('SERVICE_DATABASE_URL is not set, so the credentials of the service were not compared')]
  }
  const wallet = firstHostOf(databaseUrl)
  const service = firstHostOf(serviceDatabaseUrl)
  const placesOf = (url: string) =>
    urlsOfHosts(url)
      .map((single) => new URL(single))
      .map(({ hostname, port }) => `${hostname}:${port || '5432'}`)
  const sameServer = placesOf(databaseUrl).some((place) => placesOf(serviceDatabaseUrl).includes(place))
  return [
    sameServer && wallet.username === service.username
      ? wrong('the service uses the same role on the same database server')
      : right('the service uses other credentials'),
    sameServer && wallet.password !== '' && wallet.password === service.password
      ? wrong('the service uses the same password on the same database server')
      : right('the service uses no password of this database role'),
    sameServer
      ? wrong('the service uses the same database server, so its superuser may write orders')
      : right('the service uses another database server'),
  ]
}

async function examineDirectory(directory: string): Promise<Finding[]> {
  const found = await stat(directory).catch(() => null)
  if (!found?.isDirectory()) return [wrong('AUTHORITY_DIR is not a directory that can be read')]
  const isOpen = (found.mode & 0o022) !== 0
  return [
    isOpen
      ? wrong('AUTHORITY_DIR may be written by others than its owner')
      : right('AUTHORITY_DIR is written by its owner only'),
  ]
}

async function examineAuthorities(pool: pg.Pool, { authorityDir, around }: Place): Promise<Finding[]> {
  const store = authorityDir === undefined ? null : new AuthorityStore(authorityDir)
  const { rows } = await pool.query<{ id: string; name: string }>('select id, name from wallet.clients order by name')
  const findings: Finding[] = []
  for (const { id, name } of rows) {
    try {
      const present = await showProtection(pool, store, id)
      findings.push(
        present === null
          ? wrong(`${name} is not protected: the bearer secret alone moves its funds`)
          : right(`${name} is protected by version ${present.version} of its authority`),
        ...(present === null ? [] : await examineAuthority(name, present, around)),
      )
    } catch (error) {
      if (!(error instanceof AuthorityUnavailableError)) throw error
      findings.push(wrong(`${name}: ${error.message}`))
    }
  }
  return findings
}

async function examineAuthority(
  name: string,
  { authority, pending }: Shown,
  { chains, sendsMail }: Place['around'],
): Promise<Finding[]> {
  const warnings = [
    trustsServicePage(authority) &&
      'its authority trusts the page of the service (trustsServicePage): whoever holds the service serves the page on which its ' +
        'people sign, and can show them one order and have another one signed',
    delayHoursOf(authority) === 0 && 'a next version comes into force at once (delayHours 0), so nobody can cancel it',
    !sendsMail && 'nobody is told of a next version: no mail server is set up (SMTP_URL)',
    contactsOf(authority).length === 0 && 'nobody is told of a next version: its authority names no contacts',
    pending !== null && describePending(name, authority, pending),
    ...(await listDifferingDecimals(authority, chains)),
  ]
  return warnings.filter((sentence) => sentence !== false).map((sentence) => wrong(`${name}: ${sentence}`))
}

function describePending(name: string, authority: AnyAuthority, pending: NonNullable<Shown['pending']>): string {
  const { version, hash, inForceAt } = pending
  return (
    `version ${version} waits, and comes into force at ${inForceAt}; to cancel it, ${cancellingVotes(authority)} of the group ` +
    `${authority.change.group} sign \`reject\` on ${hash}: strongroom-wallet authority cancel ${name} VOTES_FILE`
  )
}

async function listDifferingDecimals(authority: AnyAuthority, chains: Surroundings['chains']): Promise<string[]> {
  const found: string[] = []
  for (const rule of authority.rules) {
    try {
      const refused = await refusalOfDecimals(rule, chains.get(rule.network))
      if (refused !== null) found.push(toText(refused))
    } catch (error) {
      found.push(
        `the decimals of ${rule.contractAddress} on ${rule.network} were not compared: ${describeNodeError(error)}`,
      )
    }
  }
  return found
}
