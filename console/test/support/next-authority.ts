import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type KeeperName, readPasskey, readReserve, signingOriginOf } from '../../../demo/src/reserve.ts'
import { hashOf } from '../../../sdk/src/signing/signing.ts'

type Version = { authority: Record<string, unknown>; version: number; hash: string }
const signers: KeeperName[] = ['anna', 'ben', 'david']

/** Has three people of the protected vault sign its authority with changes, as the next version, at the wallet service itself. */
export async function signNextAuthority(dataDir: string, changes: object): Promise<Version> {
  const { walletUrl, userIds } = readReserve(dataDir)!
  const { reserveToken } = JSON.parse(readFileSync(join(dataDir, 'secrets.json'), 'utf8')) as { reserveToken: string }
  const ask = async (init: RequestInit = {}): Promise<Version> => {
    const headers = { authorization: `Bearer ${reserveToken}`, 'content-type': 'application/json' }
    const answer = await fetch(`${walletUrl}/authority`, { ...init, headers })
    if (!answer.ok) throw new Error(await answer.text())
    return answer.json() as Promise<Version>
  }
  const present = await ask()
  const authority = { ...present.authority, ...changes, version: present.version + 1, previous: present.hash }
  const hash = await hashOf(authority)
  const about = { subject: 'authority', decision: 'approve', hash, authority: present.hash }
  const votes = signers.map((name) => {
    const key = readPasskey(dataDir, name, { purpose: 'signing', origin: signingOriginOf(walletUrl) })!
    const signedAt = new Date().toISOString()
    return key.vote({ format: 'strongroom-vote-2', ...about, person: userIds[name], signedAt })
  })
  await ask({ method: 'POST', body: JSON.stringify({ authority, votes }) })
  return { authority, version: present.version + 1, hash }
}
