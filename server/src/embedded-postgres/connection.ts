import pg from 'pg'
import { SUPERUSER } from './cluster.ts'

const DATABASE = 'strongroom'
const CANNOT_CONNECT_NOW = '57P03'
const NO_SUCH_DATABASE = '3D000'
const DATABASE_EXISTS = ['42P04', '23505']

export function toUrl(port: number, password: string, database: string = DATABASE): string {
  return `postgresql://${SUPERUSER}:${password}@127.0.0.1:${port}/${database}`
}

/**
 * Asks the server for our database and creates it when it is absent. Returns `not yet` while the server does not listen or is
 * still starting, recovering or shutting down.
 */
export async function tryDatabase(port: number, password: string): Promise<'ready' | 'not yet'> {
  try {
    await runStatement(toUrl(port, password), 'select 1')
    return 'ready'
  } catch (error) {
    if (isNotYet(error)) return 'not yet'
    if (codeOf(error) !== NO_SUCH_DATABASE) throw error
    return createDatabase(port, password)
  }
}

async function createDatabase(port: number, password: string): Promise<'ready' | 'not yet'> {
  try {
    await runStatement(toUrl(port, password, 'postgres'), `create database ${DATABASE}`)
    return 'ready'
  } catch (error) {
    if (isNotYet(error)) return 'not yet'
    if (DATABASE_EXISTS.includes(codeOf(error) ?? '')) return 'ready'
    throw error
  }
}

async function runStatement(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
  // The query reports a server that goes away meanwhile. Without a listener that event would end the process.
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query(statement)
  } finally {
    await client.end().catch(() => {})
  }
}

function isNotYet(error: unknown): boolean {
  const code = codeOf(error)
  if (code) return code === CANNOT_CONNECT_NOW || code === 'ECONNREFUSED' || code === 'ECONNRESET'
  return error instanceof Error && /timeout|terminated unexpectedly/i.test(error.message)
}

function codeOf(error: unknown): string | undefined {
  return (error as { code?: string }).code
}
