import { originOf, type Place, type Sealer } from '../../../lib/secrets.ts'

type Home = { id: string; issuer: string }

/** The secret is sealed for the origin of the issuer: it cannot be opened for a row that names another. */
const placeOf = ({ id, issuer }: Home): Place => ({
  table: 'identity_providers',
  column: 'client_secret',
  row: [id],
  destination: originOf(issuer),
})

export function sealClientSecret(sealer: Sealer, home: Home, secret: string): Buffer {
  return sealer.seal(placeOf(home), secret)
}

/** @throws SealError */
export function openClientSecret(sealer: Sealer, home: Home & { client_secret: Buffer | null }): string | null {
  return home.client_secret === null ? null : sealer.open(placeOf(home), home.client_secret)
}
