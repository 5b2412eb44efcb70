import { originOf, type Place, type Sealer } from '../../../lib/secrets.ts'

type Home = { id: string; issuer: string }

/** Returns the place for which a secret is sealed. It includes the origin of the issuer, so that another issuer never gets the secret. */
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
