import Type, { type Static } from 'typebox'
import type { Chain } from '../chains/chain.ts'
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
      description:
        "m/44/<coinType>/<account>, read as m/44'/<coinType>'/<account>', on Bitcoin and Litecoin as m/84'/<coinType>'/<account>'.",
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
      description:
        'Extended public key of the account (BIP-32), with the version bytes of `xpub` on every network. The addresses below the ' +
        'account follow from it.',
      examples: [
        'xpub6DSwDWBPjdopcHjga5am3iJpVY4Doi7xqydtQWimdyWcM7s7op1GcgCKoy5AVZKn5knFtREQjZmP46Rz48nVB21fg4y8gnqj7yUdvHE7AuE',
      ],
    }),
    script: Type.Optional(
      Type.Literal('p2wpkh', {
        description: 'Script of the addresses on Bitcoin and Litecoin; absent on EVM networks.',
      }),
    ),
    key: Type.String({
      description: 'The Ed25519 key with which this service signs what it shows to this client, as SPKI in base64url.',
      examples: ['MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE'],
    }),
    signature: Type.String({
      description: 'Signature of network, path, script, xpub and challenge, in base64url (docs/wallet-protocol.md).',
      examples: ['0J7yUdvHE7AuE0J7yUdvHE7AuE0J7yUdvHE7AuE0J7yUdvHE7AuE0J7yUdvHE7AuE0J7yUdvHE7AuE0J7yUdvHE7Au'],
    }),
  },
  { additionalProperties: false, title: 'AccountKey' },
)

/** Returns the public key of an account, from which the addresses below it follow, signed together with the challenge. */
export async function showAccountKey(
  { keyring, chain }: { keyring: Keyring; chain: Chain },
  clientId: string,
  { network, derivationPath, challenge }: Static<typeof AccountKeyQuery>,
): Promise<Static<typeof AccountKey>> {
  const path = parseDerivationPath(derivationPath)
  if ('fault' in path) throw badField('derivationPath', path.fault)
  // The account is the last hardened level, so that its public key reveals nothing about other accounts.
  if (path.indexes.length !== 1) throw badField('derivationPath', 'must have one index, the account')
  if (chain.coinType !== null && path.coinType !== chain.coinType)
    throw badField('derivationPath', `has another coin type than ${chain.coinType}, that of ${network}`)
  const { bip32Path, script } = chain.accountOf(path)
  const { xpub } = await keyring.xpub(clientId, bip32Path)
  const text =
    script === null
      ? ['strongroom account key 1', network, derivationPath, xpub, challenge]
      : ['strongroom account key 2', network, derivationPath, script, xpub, challenge]
  const attestation = await keyring.attest(clientId, text.join('\n'))
  return { xpub, ...(script === null ? {} : { script }), ...attestation }
}
