import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { type Anvil, startAnvil } from '@strongroom/wallet/anvil'
import type { Abi, Hex } from 'viem'
import { readJson, writeJson } from './data-files.ts'
import { call, gwei, hex } from './json-rpc.ts'

/** The first of anvil's development accounts, for which anvil holds the key. */
const faucet = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
/**
 * The first transaction of the faucet deploys the token, so the token always gets this address (Yellow Paper, section
 * 7).
 */
export const tokenAddress = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
export const token = { code: 'TUSD', symbol: 'TUSD', name: 'Test dollar', decimals: 6 } as const
const tokenSupply = 10n ** 15n

/** Fixed fees far above those of the chain, so that the same order always has the same transaction hash. */
const fees = { maxFeePerGas: hex(100n * gwei), maxPriorityFeePerGas: hex(gwei) }

/** Signed transactions that pay for the demo, stored as they were first sent. */
type Sent = { address: string; transactions: { nonce: number; raw: Hex }[] }

/** The files of the fundings, in the order in which they are paid. */
const fundings = ['funding', 'funding-reserve'] as const
const fundingPath = (dataDir: string, name: (typeof fundings)[number]) => join(dataDir, 'chain', `${name}.json`)

/** Starts the local chain with the state of the last run, deploys the token, and repeats funding that the chain may have lost. */
export async function startChain(dataDir: string, port: number): Promise<Anvil> {
  const anvil = await startAnvil({ port, statePath: join(dataDir, 'chain', 'state.json') })
  try {
    await ensureToken(anvil.rpcUrl)
    await resendFunding(anvil.rpcUrl, dataDir)
    return anvil
  } catch (error) {
    await anvil.stop()
    throw error
  }
}

async function ensureToken(rpcUrl: string): Promise<void> {
  if ((await call(rpcUrl, 'eth_getCode', [tokenAddress, 'latest'])) !== '0x') return
  if ((await nonceOf(rpcUrl)) !== 0) {
    throw new Error('the local chain has lost the test token; delete DATA_DIR to begin anew')
  }
  const { encodeDeployData } = await import('viem')
  const path = createRequire(import.meta.url).resolve('@strongroom/wallet/contracts/TestToken.json')
  const { abi, bytecode } = JSON.parse(readFileSync(path, 'utf8')) as { abi: Abi; bytecode: Hex }
  const data = encodeDeployData({ abi, bytecode, args: [token.name, token.symbol, token.decimals, tokenSupply] })
  await call(rpcUrl, 'eth_sendTransaction', [{ from: faucet, nonce: '0x0', gas: hex(3_000_000n), data, ...fees }])
}

/**
 * Sends the same transactions again. If everything is killed at once, the chain loses its last second while the ledger
 * does not. The hashes are the same, so that no deposit is credited twice.
 */
async function resendFunding(rpcUrl: string, dataDir: string): Promise<void> {
  for (const name of fundings) {
    const funding = readJson<Sent>(fundingPath(dataDir, name))
    if (funding !== null) await sendMissing(rpcUrl, funding)
  }
}

async function sendMissing(rpcUrl: string, { transactions }: Sent): Promise<void> {
  const mined = await nonceOf(rpcUrl)
  for (const { nonce, raw } of transactions) {
    if (nonce >= mined) await call(rpcUrl, 'eth_sendRawTransaction', [raw])
  }
}

/** The amounts that the address of each vault is paid once, in the smallest unit. */
type Funding = { name: (typeof fundings)[number]; wei: bigint; dollars: bigint }
export const demoFunding: Funding = { name: 'funding', wei: 5n * 10n ** 18n, dollars: 50_000n * 10n ** 6n }
export const reserveFunding: Funding = { name: 'funding-reserve', wei: 2n * 10n ** 18n, dollars: 0n }

/** The payee. `isCredited` is true if the ledger knows of a payment. */
export type Payment = { address: string; isCredited: boolean }

/**
 * Pays ether and test dollars to an address that was never paid, according to the recorded funding, the chain and the
 * ledger (`isCredited`).
 */
export async function fundOnce(
  rpcUrl: string,
  dataDir: string,
  { name, address, isCredited, wei, dollars }: Funding & Payment,
): Promise<void> {
  if (isCredited || readJson<Sent>(fundingPath(dataDir, name))?.address === address) return
  if (BigInt(await call<Hex>(rpcUrl, 'eth_getBalance', [address, 'latest'])) > 0n) return
  const nonce = await nonceOf(rpcUrl)
  const orders: object[] = [{ to: address, value: hex(wei), gas: hex(21_000n) }]
  if (dollars > 0n) {
    const { encodeFunctionData, erc20Abi } = await import('viem')
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [address as Hex, dollars] })
    orders.push({ to: tokenAddress, value: '0x0', gas: hex(100_000n), data })
  }
  const transactions: Sent['transactions'] = []
  for (const [i, order] of orders.entries()) {
    const request = { from: faucet, chainId: hex(31337n), nonce: hex(BigInt(nonce + i)), ...order, ...fees }
    transactions.push({ nonce: nonce + i, raw: await call<Hex>(rpcUrl, 'eth_signTransaction', [request]) })
  }
  // Recorded before it is sent, so that after a crash the same transactions are sent again and no others.
  const funding = { address, transactions }
  writeJson(fundingPath(dataDir, name), funding)
  await sendMissing(rpcUrl, funding)
}

async function nonceOf(rpcUrl: string): Promise<number> {
  return Number(await call<Hex>(rpcUrl, 'eth_getTransactionCount', [faucet, 'latest']))
}
