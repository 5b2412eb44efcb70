import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { hashOf } from './canonical.ts'
import { writeJson } from './data-files.ts'
import type { SoftwarePasskey } from './software-passkey.ts'

/** A person whose votes count, with their signing key. */
export type Keeper = { id: string; key: SoftwarePasskey }

const group = 'keepers'
const votesToChange = 3

/** Builds the first version, or the next version: each keeper may order ether, and two others must approve. */
export function authorityOf(vaultId: string, keepers: Keeper[], previous: { version: number; hash: string } | null) {
  return {
    format: 'strongroom-authority-2',
    vaultId,
    version: (previous?.version ?? 0) + 1,
    previous: previous?.hash ?? null,
    keys: keepers.map(({ id, key }) => ({
      id: key.id.toString('base64url'),
      person: id,
      name: 'Software signing key of the demo',
      kind: 'passkey',
      publicKey: key.publicKey.toString('base64url'),
      rpId: new URL(key.origin).hostname,
      origins: [key.origin],
    })),
    groups: [{ id: group, persons: keepers.map(({ id }) => id) }],
    addresses: [],
    change: { group, votes: votesToChange },
    trustsServicePage: false,
    delayHours: 0,
    contacts: [],
    rules: [
      {
        network: 'ethereum',
        contractAddress: null,
        symbol: 'ETH',
        decimals: 18,
        initiators: group,
        perDay: `${10n ** 18n}`,
        floors: [{ above: '0', to: 'any', group, votes: 2 }],
      },
    ],
  }
}

/** The settings of `strongroom-wallet` that locate its key store. */
export type KeyStore = {
  databaseUrl: string
  passphrase: string
  authorityDir: string
  signing: { origin: string; consoleOrigin: string }
}

/**
 * Runs the ceremony: the command that two people run at the wallet service (docs/security/ceremony.md). The digits that
 * they would read from their own screens are computed here. A client that already has an authority keeps it.
 */
export async function pinAuthority(store: KeyStore, client: string, document: object, file: string): Promise<void> {
  const environment = {
    PATH: process.env.PATH,
    DATABASE_URL: store.databaseUrl,
    WALLET_PASSPHRASE: store.passphrase,
    AUTHORITY_DIR: store.authorityDir,
    WALLET_SIGNING_ORIGIN: store.signing.origin,
    WALLET_CONSOLE_ORIGIN: store.signing.consoleOrigin,
    LOG_LEVEL: 'silent',
  }
  const program = join(
    dirname(createRequire(import.meta.url).resolve('@strongroom/wallet/package.json')),
    'bin/strongroom-wallet.js',
  )
  writeJson(file, document)
  const orders = ['authority', 'init', client, file, '--fingerprint', hashOf(document)]
  const command = spawn(process.execPath, [program, ...orders], {
    env: environment,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let errors = ''
  command.stderr.on('data', (chunk) => {
    errors += chunk
  })
  const [code] = await once(command, 'close')
  if (code !== 0 && !/already has an authority/.test(errors)) throw new Error(errors.trim())
}

/**
 * Replaces the authority if the page of the wallet service has another origin, as after a start on another port. People
 * sign the next version with the keys that the present version names.
 */
export async function followOrigin(
  wallet: { url: string; token: string },
  keepers: Keeper[],
  findSigner: (credentialId: string, origin: string) => SoftwarePasskey | null,
): Promise<void> {
  const present = await ask(wallet, 'GET')
  const { vaultId, keys } = present.authority
  if (keys.every(({ origins }) => origins[0] === keepers[0]!.key.origin)) return
  const authority = authorityOf(vaultId, keepers, present)
  const signedAt = new Date().toISOString()
  const about = { hash: hashOf(authority), authority: present.hash, signedAt }
  const vote = { format: 'strongroom-vote-2', subject: 'authority', decision: 'approve', ...about }
  const votes = keys.slice(0, votesToChange).map(({ id, person, origins }) => {
    const key = findSigner(id, origins[0]!)
    if (key === null) throw new Error(`the signing key of ${person} is gone`)
    return key.vote({ ...vote, person })
  })
  await ask(wallet, 'POST', { authority, votes })
}

type Present = { authority: ReturnType<typeof authorityOf>; version: number; hash: string }

async function ask({ url, token }: { url: string; token: string }, method: string, body?: object): Promise<Present> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
  const response = await fetch(`${url}/authority`, init)
  const answer = (await response.json()) as Present
  if (!response.ok) throw new Error(`the wallet refuses ${method} /authority: ${JSON.stringify(answer)}`)
  return answer
}
