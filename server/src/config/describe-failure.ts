import { ConfigError } from './config.ts'

/** Describes a failed start or command in a line for the person who ran it; faults of the settings get a line each. */
export function describeFailure(error: unknown): string {
  if (error instanceof ConfigError) return error.message
  const { code } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE') return 'Strongroom cannot start: its port is in use; set PORT to another one'
  const isNetwork = /^(ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)$/.test(
    code ?? '',
  )
  if (isNetwork) return `The database cannot be reached (${code}); is DATABASE_URL right and the server running?`
  if (/^(SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_\w+)$/.test(code ?? '')) {
    return (
      `The certificate of the database is of an authority that is not known here (${code}); set DATABASE_CA to a file with ` +
      'the certificate of that authority'
    )
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `The certificate of the database is for another name than that in DATABASE_URL: ${toMessage(error)}`
  // The tables or the role are missing. PostgreSQL refuses a connection with an unknown role with 22023.
  if (code === '42P01' || (code === '22023' && toMessage(error).includes('role'))) {
    return 'The database does not have the schema of this version; run "strongroom migrate"'
  }
  if (/^(28...|3D000)$/.test(code ?? '')) return `The database refuses the connection: ${toMessage(error)}`
  return toMessage(error)
}

function toMessage(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return toMessage(error.errors[0])
  return (error instanceof Error ? error.message : String(error)).replace(/\s*\n\s*/g, ' ')
}
