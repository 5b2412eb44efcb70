import { createHmac, createPrivateKey, createPublicKey, type KeyObject, randomBytes, sign } from 'node:crypto'
import { HDKey } from '@scure/bip32'
import { mnemonicToSeed } from '@scure/bip39'
import type pg from 'pg'
import { inTransaction } from '../database/in-transaction.ts'
import { accountsKeptMax } from '../limits.ts'
import { seal, stretchPassphrase, unseal } from './seal.ts'

/** The opened key store: it seals new mnemonics and derives the private keys of a client's paths. */
export type Keyring = {
  /**
   * The salt of the passphrase. A client is stored only while the key store still has it: a mnemonic under an old passphrase
   * would be lost with the process that made it.
   */
  salt: Buffer
  sealMnemonic(clientId: string, mnemonic: string): Buffer
  /** Returns the private key of a path. Recently used paths give the same object, so that a cache can use it as its key. */
  privateKey(clientId: string, bip32Path: string): Promise<Uint8Array>
  /** The extended public key of the path, and the fingerprint of the key at the root, by which wallets know it (BIP-32). */
  xpub(clientId: string, bip32Path: string): Promise<{ xpub: string; fingerprint: number }>
  /** Signs statements about the keys of a client, with a key of the client that signs nothing else. */
  attest(clientId: string, text: string): Promise<Attestation>
}

/** The key as SPKI and the Ed25519 signature, both in base64url. */
export type Attestation = { key: string; signature: string }

class WrongPassphraseError extends Error {}

/**
 * Opens the key store with the passphrase, or creates it on the first start.
 * @param cost the scrypt cost of a key store that is created; the tests, which start hundreds of wallets, create a cheap store
 * @throws WrongPassphraseError
 */
export async function openKeyring(pool: pg.Pool, passphrase: string, cost = scryptCost): Promise<Keyring> {
  const { key, salt } = await openKey(pool, passphrase, cost)
  const roots = new Map<string, Promise<HDKey>>()
  const privateKeys = new Map<string, Uint8Array>()

  async function openRoot(clientId: string): Promise<HDKey> {
    let root = roots.get(clientId)
    if (!root) {
      root = readRoot(clientId)
      roots.set(clientId, root)
      // A failed read is not cached: the database may be available for the next request.
      root.catch(() => roots.delete(clientId))
    }
    return await root
  }

  async function readRoot(clientId: string): Promise<HDKey> {
    const { rows } = await pool.query<{ sealed_mnemonic: Buffer }>(
      'select sealed_mnemonic from wallet.clients where id = $1',
      [clientId],
    )
    if (!rows[0]) throw new Error('the client has no mnemonic')
    return await rootOf(unseal(key, clientBinding(clientId), rows[0].sealed_mnemonic))
  }

  /** The keys that were used last are kept, because a derivation takes milliseconds and every order needs one. */
  async function derive(clientId: string, bip32Path: string): Promise<Uint8Array> {
    const root = await openRoot(clientId)
    const name = `${clientId} ${bip32Path}`
    const privateKey = privateKeys.get(name) ?? privateKeyAt(root, bip32Path)
    privateKeys.delete(name)
    privateKeys.set(name, privateKey)
    if (privateKeys.size > accountsKeptMax) privateKeys.delete(privateKeys.keys().next().value!)
    return privateKey
  }

  return {
    salt,
    sealMnemonic: (clientId, mnemonic) => seal(key, clientBinding(clientId), mnemonic),
    privateKey: derive,
    async xpub(clientId, bip32Path) {
      const root = await openRoot(clientId)
      return { xpub: root.derive(bip32Path).publicExtendedKey, fingerprint: root.fingerprint }
    },
    async attest(clientId, text) {
      const key = attestationKeyOf(await openRoot(clientId))
      return {
        key: createPublicKey(key).export({ format: 'der', type: 'spki' }).toString('base64url'),
        signature: sign(null, Buffer.from(text), key).toString('base64url'),
      }
    },
  }
}

export async function rootOf(mnemonic: string): Promise<HDKey> {
  return HDKey.fromMasterSeed(await mnemonicToSeed(mnemonic))
}

export function privateKeyAt(root: HDKey, bip32Path: string): Uint8Array {
  const { privateKey } = root.derive(bip32Path)
  if (!privateKey) throw new Error('the path has no private key')
  return privateKey
}

/**
 * 32 bytes of BIP-85 (application 128169, index 0) as an Ed25519 key. It follows from the mnemonic, so a client keeps it
 * wherever its mnemonic is restored, and reveals nothing of the keys that hold funds.
 */
export function attestationKeyOf(root: HDKey): KeyObject {
  const { privateKey } = root.derive("m/83696968'/128169'/32'/0'")
  const seed = createHmac('sha512', 'bip-entropy-from-k').update(privateKey!).digest().subarray(0, 32)
  return createPrivateKey({ key: Buffer.concat([ed25519Pkcs8, seed]), format: 'der', type: 'pkcs8' })
}

/** The header of an Ed25519 private key in PKCS #8 (RFC 8410). */
const ed25519Pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex')

/** OWASP's recommended scrypt cost (N = 2^17, r = 8, p = 1): about 128 MiB and a third of a second, once per start. */
const scryptCost = 2 ** 17
const checkText = 'strongroom wallet key store'
const checkBinding = 'keyring'
const clientBinding = (clientId: string) => `client ${clientId}`

type OpenKey = { key: Buffer; salt: Buffer }

async function openKey(pool: pg.Pool, passphrase: string, cost: number): Promise<OpenKey> {
  const existing = await findKeyringRow(pool)
  if (existing) return await checkedKey(existing, passphrase)
  const salt = randomBytes(32)
  const key = await stretchPassphrase(passphrase, salt, cost)
  const { rowCount } = await pool.query(
    'insert into wallet.keyring (salt, scrypt_cost, sealed_check) values ($1, $2, $3) on conflict do nothing',
    [salt, cost, seal(key, checkBinding, checkText)],
  )
  if (rowCount === 1) return { key, salt }
  // Another process created the key store at the same moment; its salt is used.
  return await checkedKey((await findKeyringRow(pool))!, passphrase)
}

type KeyringRow = { salt: Buffer; scrypt_cost: number; sealed_check: Buffer }

async function findKeyringRow(pool: pg.Pool): Promise<KeyringRow | undefined> {
  const { rows } = await pool.query<KeyringRow>('select salt, scrypt_cost, sealed_check from wallet.keyring')
  return rows[0]
}

async function checkedKey(row: KeyringRow, passphrase: string, name = 'WALLET_PASSPHRASE'): Promise<OpenKey> {
  const key = await stretchPassphrase(passphrase, row.salt, row.scrypt_cost)
  try {
    unseal(key, checkBinding, row.sealed_check)
  } catch {
    throw new WrongPassphraseError(`${name} does not open the key store in this database`)
  }
  return { key, salt: row.salt }
}

/**
 * Seals the mnemonics of all clients again under a new passphrase, in one transaction. The keys and addresses stay the same. A
 * running process holds opened keys, and uses them until it is restarted.
 * @returns the number of clients; null when the new passphrase opens the key store already
 * @throws WrongPassphraseError
 */
export async function changePassphrase(
  pool: pg.Pool,
  { previous, next }: { previous: string; next: string },
): Promise<number | null> {
  return await inTransaction(pool, async (tx) => {
    // This waits for transactions that store a client now (clients.ts). Later ones are refused.
    const { rows } = await tx.query<KeyringRow>('select salt, scrypt_cost, sealed_check from wallet.keyring for update')
    const row = rows[0]
    if (!row) throw new WrongPassphraseError('there is no key store in this database')
    if (await opens(row, next)) return null
    const { key: previousKey } = await checkedKey(row, previous, 'WALLET_PASSPHRASE_PREVIOUS')
    const salt = randomBytes(32)
    const key = await stretchPassphrase(next, salt, scryptCost)
    await tx.query('update wallet.keyring set salt = $1, scrypt_cost = $2, sealed_check = $3', [
      salt,
      scryptCost,
      seal(key, checkBinding, checkText),
    ])
    const clients = await tx.query<{ id: string; sealed_mnemonic: Buffer }>(
      'select id, sealed_mnemonic from wallet.clients order by id',
    )
    for (const { id, sealed_mnemonic: sealed } of clients.rows) {
      const mnemonic = unseal(previousKey, clientBinding(id), sealed)
      await tx.query('update wallet.clients set sealed_mnemonic = $2 where id = $1', [
        id,
        seal(key, clientBinding(id), mnemonic),
      ])
    }
    return clients.rows.length
  })
}

async function opens(row: KeyringRow, passphrase: string): Promise<boolean> {
  return await checkedKey(row, passphrase).then(
    () => true,
    () => false,
  )
}
