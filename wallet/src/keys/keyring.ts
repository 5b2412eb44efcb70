import { randomBytes } from 'node:crypto'
import { HDKey } from '@scure/bip32'
import { mnemonicToSeed } from '@scure/bip39'
import type pg from 'pg'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { type ParsedPath, toBip32Path } from './derivation-path.ts'
import { seal, stretchPassphrase, unseal } from './seal.ts'

/** The opened key store: it seals new mnemonics and makes the signing account of a client's path. */
export type Keyring = {
  sealMnemonic(clientId: string, mnemonic: string): Buffer
  account(clientId: string, path: ParsedPath): Promise<PrivateKeyAccount>
}

class WrongPassphraseError extends Error {}

/** Opens the key store with the passphrase, or creates it on the first start; throws WrongPassphraseError. */
export async function openKeyring(pool: pg.Pool, passphrase: string): Promise<Keyring> {
  const key = await openKey(pool, passphrase)
  const roots = new Map<string, Promise<HDKey>>()

  async function readRoot(clientId: string): Promise<HDKey> {
    const { rows } = await pool.query<{ sealed_mnemonic: Buffer }>(
      'select sealed_mnemonic from wallet.clients where id = $1',
      [clientId],
    )
    if (!rows[0]) throw new Error('the client has no mnemonic')
    return await rootOf(unseal(key, clientBinding(clientId), rows[0].sealed_mnemonic))
  }

  return {
    sealMnemonic: (clientId, mnemonic) => seal(key, clientBinding(clientId), mnemonic),
    async account(clientId, path) {
      let root = roots.get(clientId)
      if (!root) {
        root = readRoot(clientId)
        roots.set(clientId, root)
        // A failed read is not cached: the database may be available for the next request.
        root.catch(() => roots.delete(clientId))
      }
      return accountAt(await root, path)
    },
  }
}

export async function rootOf(mnemonic: string): Promise<HDKey> {
  return HDKey.fromMasterSeed(await mnemonicToSeed(mnemonic))
}

export function accountAt(root: HDKey, path: ParsedPath): PrivateKeyAccount {
  const { privateKey } = root.derive(toBip32Path(path))
  if (!privateKey) throw new Error('the path has no private key')
  return privateKeyToAccount(`0x${Buffer.from(privateKey).toString('hex')}`)
}

/** OWASP's recommended scrypt cost (N = 2^17, r = 8, p = 1): about 128 MiB and a third of a second, once per start. */
const scryptCost = 2 ** 17
const checkText = 'strongroom wallet key store'
const checkBinding = 'keyring'
const clientBinding = (clientId: string) => `client ${clientId}`

async function openKey(pool: pg.Pool, passphrase: string): Promise<Buffer> {
  const existing = await findKeyringRow(pool)
  if (existing) return await checkedKey(existing, passphrase)
  const salt = randomBytes(32)
  const key = await stretchPassphrase(passphrase, salt, scryptCost)
  const { rowCount } = await pool.query(
    'insert into wallet.keyring (salt, scrypt_cost, sealed_check) values ($1, $2, $3) on conflict do nothing',
    [salt, scryptCost, seal(key, checkBinding, checkText)],
  )
  if (rowCount === 1) return key
  // Another process created the key store at the same moment; its salt is used.
  return await checkedKey((await findKeyringRow(pool))!, passphrase)
}

type KeyringRow = { salt: Buffer; scrypt_cost: number; sealed_check: Buffer }

async function findKeyringRow(pool: pg.Pool): Promise<KeyringRow | undefined> {
  const { rows } = await pool.query<KeyringRow>('select salt, scrypt_cost, sealed_check from wallet.keyring')
  return rows[0]
}

async function checkedKey(row: KeyringRow, passphrase: string): Promise<Buffer> {
  const key = await stretchPassphrase(passphrase, row.salt, row.scrypt_cost)
  try {
    unseal(key, checkBinding, row.sealed_check)
  } catch {
    throw new WrongPassphraseError('WALLET_PASSPHRASE does not open the key store in this database')
  }
  return key
}
