import { readFileSync } from 'node:fs'
import { type Abi, type Address, createWalletClient, getAddress, type Hex, http, publicActions } from 'viem'
import { mnemonicToAccount } from 'viem/accounts'

/** The mnemonic of anvil's funded accounts: ten with 10,000 coins each. */
export const anvilMnemonic = 'test test test test test test test test test test test junk'

/** A client that signs with one of anvil's funded accounts; test files that share a chain take different ones. */
export function openFaucet(rpcUrl: string, addressIndex = 0) {
  const account = mnemonicToAccount(anvilMnemonic, { addressIndex })
  return createWalletClient({ account, transport: http(rpcUrl), pollingInterval: 50, cacheTime: 0 }).extend(
    publicActions,
  )
}

export type Faucet = ReturnType<typeof openFaucet>

/** Deploys TestToken.sol from the faucet's account and returns the contract's address. */
export async function deployTestToken(
  faucet: Faucet,
  { name = 'Test Dollar', symbol = 'TUSD', decimals = 6, supply = 10n ** 15n } = {},
): Promise<Address> {
  const { abi, bytecode } = readTestToken()
  const hash = await faucet.deployContract({ abi, bytecode, args: [name, symbol, decimals, supply], chain: null })
  const { contractAddress } = await faucet.waitForTransactionReceipt({ hash })
  return getAddress(contractAddress!)
}

export function readTestToken(): { abi: Abi; bytecode: Hex } {
  return JSON.parse(readFileSync(new URL('../../contracts/TestToken.json', import.meta.url), 'utf8'))
}
