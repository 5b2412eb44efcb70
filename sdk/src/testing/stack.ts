import type { AddressInfo } from 'node:net'
import { startTasks } from '../../../server/src/jobs/tasks.ts'
import type { Address, Token } from '../../../server/src/testing/answer.ts'
import { createTestApp, type Person, type TestApp } from '../../../server/src/testing/app.ts'
import {
  addMember,
  allowAll,
  createAddress,
  createVaultFixture,
  deposit,
  type VaultFixture,
} from '../../../server/src/testing/fixtures.ts'

export type Stack = {
  test: TestApp
  vault: VaultFixture
  /** The URL as `npm start` prints it. */
  url: string
  treasurer: Person
  /** The treasurer's funded address. */
  address: Address
  /** An ERC-20 token of 6 decimals. */
  tusd: Token
  close(): Promise<void>
}

/**
 * Starts the service as it runs: HTTP, PostgreSQL and its background tasks, with the vault `treasury`, whose treasurer
 * may transfer. Only the wallet service is replaced, by one that confirms every transfer.
 */
export async function startStack(): Promise<Stack> {
  const test = await createTestApp()
  await test.app.listen({ port: 0, host: '127.0.0.1' })
  const stopTasks = startTasks(test.deps)
  const vault = await createVaultFixture(test, { code: 'treasury' })
  const contractAddress = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
  const created = await vault.admin.post('/tokens', {
    network: 'ethereum',
    code: 'TUSD',
    symbol: 'TUSD',
    name: 'Test dollar',
    decimals: 6,
    contractAddress,
  })
  const treasurer = await addMember(test, vault, 'treasurer@example.org')
  await allowAll(vault, 'create_address')
  await allowAll(vault, 'transfer')
  const address = await createAddress(treasurer, { vault: 'treasury', token: 'TUSD', label: 'Operations' })
  await deposit(test, { address: address.address, amount: '5' })
  await deposit(test, { address: address.address, asset: contractAddress, amount: '50000' })
  const confirming = setInterval(() => {
    for (const { id, status } of vault.wallet.transfers()) if (status !== 'confirmed') vault.wallet.confirm(id)
  }, 50)
  return {
    test,
    vault,
    url: `http://127.0.0.1:${(test.app.server.address() as AddressInfo).port}/api/v1`,
    treasurer,
    address,
    tusd: created.body,
    async close() {
      clearInterval(confirming)
      await stopTasks()
      await vault.wallet.close()
      await test.close()
    },
  }
}
