import Type, { type Static } from 'typebox'
import { badField } from '../errors.ts'
import { pathLengthMax } from '../limits.ts'
import { Network } from '../protocol.ts'
import { parseDerivationPath } from './derivation-path.ts'
import type { Keyring } from './keyring.ts'

export const AccountKeyQuery = Type.Object(
  {
    network: Network,
    derivationPath: Type.String({
      maxLength: pathLengthMax,
      description: "m/44/<coinType>/<account>, read as m/44'/<coinType>'/<account>'.",
      examples: ['m/44/60/0'],
    }),
    challenge: Type.String({
      pattern: '^[A-Za-z0-9_-]{43}$',
      description: '32 random bytes in base64url, which are signed with the answer.',
      examples: ['q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA'],
    }),
  },
  { additionalProperties: false },
)
export const AccountKey = Type.Object(
  {
    xpub: Type.String({
      description: 'Extended public key of the account (BIP-32). The addresses below the account follow from it.',
      examples: [
        'xpub6DSwDWBPjdopcHjga5am3iJpVY4Doi7xqydtQWimdyWcM7s7op1GcgCKoy5AVZKn5knFtREQjZmP46Rz48nVB21fg4y8gnqj7yUdvHE7AuE',
      ],
    }),
    key: Type.String({
      description: 'The Ed25519 key with which this service signs what it shows to this client, as SPKI in base64url.',
      examples: ['MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE'],
    }),
    signature: Type.String({
      description: 'Signature of network, path, xpub and challenge, in base64url (docs/wallet-protocol.md).',
      examples: ['0J7yUdvHE7AuE0J7yUdvHE7AuE0J7yUdvHE7AuE0J7yUdvHE7AuE0J7yUdvHE7AuE0J7yUdvHE7AuE0J7yUdvHE7Au'],
    }),
  },
  { additionalProperties: false, title: 'AccountKey' },
)

/** The public key of an account, from which the addresses below it follow, signed together with the challenge. */
export async function showAccountKey(
  keyring: Keyring,
  clientId: string,
  { network, derivationPath, challenge }: Static<typeof AccountKeyQuery>,
): Promise<Static<typeof AccountKey>> {
  const path = parseDerivationPath(derivationPath)
  if ('fault' in path) throw badField('derivationPath', path.fault)
  // The account is the last hardened level, so that its public key reveals nothing about other accounts.
  if (path.indexes.length !== 1) throw badField('derivationPath', 'must have one index, the account')
  const xpub = await keyring.xpub(clientId, path)
  const text = ['strongroom account key 1', network, derivationPath, xpub, challenge].join('\n')
  return { xpub, ...(await keyring.attest(clientId, text)) }
}
