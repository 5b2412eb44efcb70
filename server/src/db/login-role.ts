import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'
import pg from 'pg'
import { firstHostOf } from '../lib/database-hosts.ts'
import { databaseConnectMilliseconds } from '../lib/limits.ts'
import { DatabaseClient } from './database-client.ts'

/**
 * `is_ready`: strongroom_app exists. `exists`, `is_member`: the role of the URL exists, and is a member of strongroom_app. `is_more`: it
 * may do more than such a member. `verifier`: its stored password; null when it could not be read.
 */
type Role = { is_ready: boolean; exists: boolean; is_member: boolean; is_more: boolean; verifier: string | null }

const notPermitted = '42501'
const alreadyThere = ['42710', '23505']

/**
 * Creates the role of the running service, with the password of its URL. The role is a member of `strongroom_app`, owns
 * nothing, and cannot become the owner (decision 0050). It is fast when the role exists, and several processes may call it at
 * once.
 * @param ownerUrl the URL of a role that may create roles, if one must be created
 * @returns true if the role was created now; null when the database was not migrated yet
 * @throws Error with the statements that an administrator of the server must run
 */
export async function ensureLogin(ownerUrl: string, serviceUrl: string): Promise<boolean | null> {
  if (!isLoginOfItsOwn(ownerUrl, serviceUrl)) return false
  const client = new DatabaseClient({
    connectionString: ownerUrl,
    connectionTimeoutMillis: databaseConnectMilliseconds,
  })
  client.on('error', () => {})
  await client.connect()
  try {
    return await ensureLoginBy(client, serviceUrl)
  } finally {
    await client.end()
  }
}

/** Returns true if the service connects as a role that differs from the owner. */
export function isLoginOfItsOwn(ownerUrl: string, serviceUrl: string): boolean {
  const { user } = loginOf(serviceUrl)
  return user !== '' && user !== loginOf(ownerUrl).user
}

type Owner = Pick<pg.Pool, 'query'>

/** Does the same as `ensureLogin`, on a connection of the owner. */
export async function ensureLoginBy(owner: Owner, serviceUrl: string): Promise<boolean | null> {
  const { user, password } = loginOf(serviceUrl)
  const role = await readRole(owner, user)
  if (!role.is_ready) return null
  if (role.is_more) {
    throw new Error(`${user} may do more than a member of strongroom_app; use another role for DATABASE_URL`)
  }
  const statements = statementsFor(role, user, password)
  if (statements.length > 0) await runAll(owner, user, statements)
  return statements.length > 0
}

/** Returns the statements that let the service log in as the role of this URL. */
export async function statementsForLogin(owner: Owner, serviceUrl: string): Promise<string[]> {
  const { user, password } = loginOf(serviceUrl)
  return statementsFor(await readRole(owner, user), user, password)
}

function loginOf(url: string): { user: string; password: string | null } {
  const { username, password } = firstHostOf(url)
  return { user: decodeURIComponent(username), password: password === '' ? null : decodeURIComponent(password) }
}

/** Reads the role. Only a superuser can read the stored password; for other users it is not compared. */
async function readRole(owner: Owner, user: string): Promise<Role> {
  const { rows } = await owner.query<Role & { is_superuser: boolean }>(
    `select a.oid is not null as is_ready, r.oid is not null as exists,
       coalesce(a.oid is not null and r.oid is not null and pg_has_role(r.oid, a.oid, 'member'), false) as is_member,
       coalesce(r.rolsuper or r.rolcreaterole or r.rolcreatedb or r.rolreplication or r.rolbypassrls, false)
         or exists (select from pg_auth_members m where m.member = r.oid and m.roleid <> a.oid) as is_more,
       null as verifier, (select rolsuper from pg_roles where rolname = current_user) as is_superuser
     from (select 1) one
     left join pg_roles a on a.rolname = 'strongroom_app'
     left join pg_roles r on r.rolname = $1`,
    [user],
  )
  const role = rows[0]!
  if (!role.exists || !role.is_superuser) return role
  const stored = await owner.query<{ rolpassword: string | null }>(
    'select rolpassword from pg_authid where rolname = $1',
    [user],
  )
  return { ...role, verifier: stored.rows[0]?.rolpassword ?? '' }
}

function statementsFor({ exists, is_member, verifier }: Role, user: string, password: string | null): string[] {
  const name = pg.escapeIdentifier(user)
  // The server stores this verifier and never sees the password, so the password cannot appear in its log.
  const secret = password === null ? '' : ` password ${pg.escapeLiteral(verifierOf(password))}`
  const isOutdated = password !== null && verifier !== null && !isVerifierOf(verifier, password)
  return [
    ...(exists ? [] : [`create role ${name} login${secret}`]),
    ...(exists && isOutdated ? [`alter role ${name} login${secret}`] : []),
    ...(exists && is_member ? [] : [`grant strongroom_app to ${name}`]),
  ]
}

async function runAll(owner: Owner, user: string, statements: string[]): Promise<void> {
  for (const statement of statements) {
    await owner.query(statement).catch((error: { code?: string }) => {
      // Another node created the role at the same moment.
      if (alreadyThere.includes(error.code ?? '')) return
      if (error.code !== notPermitted) throw error
      throw new Error(
        `The owner of the database may not make the role ${user}. An administrator of PostgreSQL runs: ` +
          `${statements.map((statement) => `${statement};`).join(' ')}`,
      )
    })
  }
}

const iterations = 4096

/** Returns a password as PostgreSQL stores it (RFC 5802, RFC 7677). */
function verifierOf(password: string, salt: Buffer = randomBytes(16), rounds: number = iterations): string {
  const salted = pbkdf2Sync(password.normalize('NFKC'), salt, rounds, 32, 'sha256')
  const keyOf = (name: string) => createHmac('sha256', salted).update(name).digest()
  const storedKey = createHash('sha256').update(keyOf('Client Key')).digest('base64')
  return `SCRAM-SHA-256$${rounds}:${salt.toString('base64')}$${storedKey}:${keyOf('Server Key').toString('base64')}`
}

function isVerifierOf(verifier: string, password: string): boolean {
  const [, rounds, salt] = /^SCRAM-SHA-256\$(\d+):([^$]+)\$/.exec(verifier) ?? []
  return rounds !== undefined && verifier === verifierOf(password, Buffer.from(salt!, 'base64'), Number(rounds))
}
