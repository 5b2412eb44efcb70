import { networkNameLengthMax, watchDepthMax } from '../limits.ts'
import type { FeeLevel } from '../protocol.ts'
import { isHttpUrl, isRecord, isWhole, parseJson } from '../setting-forms.ts'

/** The settings of a network of any family. */
export type NetworkConfig = {
  rpcUrl: string
  /** Number of confirmations at which a block counts: 1 means as soon as it is mined. */
  confirmations: number
  pollMilliseconds: number
  /** First block that the watcher reads when it has never run on this network; by default 1000 blocks back. */
  startBlock?: number
  /**
   * The depth below the newest block to which a reported deposit is watched: 1000 by default. A deposit that the chain loses
   * above this depth is reported as orphaned. The depth is never less than `confirmations`.
   */
  watchDepth?: number
  /** The interval at which the node is asked about a transaction that is in no block: 600 seconds by default. */
  askAgainSeconds?: number
}

export type EvmConfig = NetworkConfig & { type?: 'evm'; chainId: number }

/** Amounts are in the smallest unit of the coin, rates in that unit for 1,000 virtual bytes. */
export type UtxoConfig = NetworkConfig & {
  type: 'bitcoin' | 'litecoin'
  /** Hash of the first block; that of the main network by default. */
  genesis?: string
  /** The rates when the node has no estimate. */
  feeRates: Record<FeeLevel, bigint>
  feeRateMax: bigint
  /** Outputs below this amount are never spent. */
  spendMin: bigint
  /** `fee`: nodes take a replacement that pays more; `child`: they do not. By default `fee` on Bitcoin and `child` on Litecoin. */
  replacement?: 'fee' | 'child'
}

export type ChainConfig = EvmConfig | UtxoConfig

const networkNamePattern = new RegExp(`^[a-z0-9][a-z0-9-]{0,${networkNameLengthMax - 1}}$`)

/** Reads WALLET_CHAINS: a JSON object with one entry for each network. */
export function readChains(value = '', faults: string[]): Record<string, ChainConfig> {
  if (value === '') {
    faults.push('WALLET_CHAINS is required')
    return {}
  }
  const parsed = parseJson(value)
  if (!isRecord(parsed) || Object.keys(parsed).length === 0) {
    faults.push('WALLET_CHAINS must be a JSON object with one entry per network')
    return {}
  }
  const chains: Record<string, ChainConfig> = Object.create(null)
  for (const [network, entry] of Object.entries(parsed)) {
    const where = `WALLET_CHAINS.${network}`
    if (!networkNamePattern.test(network))
      faults.push(`${where}: a network name is lower-case letters, digits and dashes`)
    if (!isRecord(entry)) faults.push(`${where} must be an object`)
    else if (entry.type === undefined || entry.type === 'evm') chains[network] = readEvm({ where, entry, faults })
    else if (entry.type === 'bitcoin' || entry.type === 'litecoin')
      chains[network] = readUtxo({ where, entry, faults }, entry.type)
    else if (entry.type === 'solana')
      faults.push(`${where}.type: this release pays on networks of the types evm, bitcoin and litecoin only`)
    else faults.push(`${where}.type must be evm, bitcoin or litecoin`)
  }
  return chains
}

/** `where` names the entry in faults. */
type Read = { where: string; entry: Record<string, unknown>; faults: string[] }

const commonKeys = [
  'type',
  'rpcUrl',
  'confirmations',
  'pollMilliseconds',
  'startBlock',
  'watchDepth',
  'askAgainSeconds',
]

function readEvm(read: Read): EvmConfig {
  const { where, entry, faults } = read
  refuseOthers(read, [...commonKeys, 'chainId'])
  const { rpcUrl, chainId } = entry
  const isNodeUrl = typeof rpcUrl === 'string' && (isHttpUrl(rpcUrl) || isSocketUrl(rpcUrl))
  if (!isNodeUrl) faults.push(`${where}.rpcUrl must be an http, https, ws or wss URL`)
  if (!isWhole(chainId, 1, Number.MAX_SAFE_INTEGER)) faults.push(`${where}.chainId must be a whole number from 1`)
  return { chainId: Number(chainId), ...readCommon(read, 12) }
}

type UtxoType = UtxoConfig['type']
type UtxoDefaults = Required<Pick<UtxoConfig, 'confirmations' | 'feeRates' | 'feeRateMax'>>

/** The rates are used only when the node has no estimate. */
const utxoDefaults: Record<UtxoType, UtxoDefaults> = {
  bitcoin: { confirmations: 6, feeRates: { low: 2_000n, medium: 8_000n, high: 20_000n }, feeRateMax: 500_000n },
  litecoin: { confirmations: 12, feeRates: { low: 1_000n, medium: 2_000n, high: 10_000n }, feeRateMax: 500_000n },
}
/** Smaller outputs may carry something that is worth more than their coins. */
const spendMinDefault = 10_000

/** Nodes relay nothing below this rate. */
const rateMin = 1_000
/** A whole coin for 1,000 bytes. */
const rateMax = 100_000_000
const keysOfUtxo = ['genesis', 'feeRates', 'feeRateMax', 'spendMin', 'replacement']

function readUtxo(read: Read, type: UtxoType): UtxoConfig {
  const { where, entry, faults } = read
  refuseOthers(read, [...commonKeys, ...keysOfUtxo])
  const { rpcUrl, genesis, replacement, spendMin = spendMinDefault } = entry
  const defaults = utxoDefaults[type]
  if (typeof rpcUrl !== 'string' || !isHttpUrl(rpcUrl)) faults.push(`${where}.rpcUrl must be an http or https URL`)
  if (genesis !== undefined && (typeof genesis !== 'string' || !/^[0-9a-f]{64}$/.test(genesis)))
    faults.push(`${where}.genesis must be a hash of 64 hex digits in lower case`)
  if (replacement !== undefined && replacement !== 'fee' && replacement !== 'child')
    faults.push(`${where}.replacement must be fee or child`)
  if (!isWhole(spendMin, 0, rateMax)) faults.push(`${where}.spendMin must be a whole number from 0 to ${rateMax}`)
  const { feeRateMax = Number(defaults.feeRateMax) } = entry
  if (!isWhole(feeRateMax, rateMin, rateMax))
    faults.push(`${where}.feeRateMax must be a whole number from ${rateMin} to ${rateMax}`)
  return {
    type,
    ...readCommon(read, defaults.confirmations),
    ...(genesis === undefined ? {} : { genesis: String(genesis) }),
    feeRates: readFeeRates(read, defaults.feeRates, Number(feeRateMax)),
    feeRateMax: wholeOf(feeRateMax),
    spendMin: wholeOf(spendMin),
    ...(replacement === 'fee' || replacement === 'child' ? { replacement } : {}),
  }
}

const levels: FeeLevel[] = ['low', 'medium', 'high']

function readFeeRates({ where, entry, faults }: Read, defaults: UtxoConfig['feeRates'], max: number) {
  const { feeRates } = entry
  if (feeRates === undefined) return defaults
  const rates = isRecord(feeRates) ? levels.map((level) => feeRates[level]) : []
  const isComplete = isRecord(feeRates) && Object.keys(feeRates).length === levels.length
  const areRates = rates.every((rate) => isWhole(rate, rateMin, max))
  if (!isComplete || !areRates || rates.some((rate, at) => at > 0 && Number(rate) < Number(rates[at - 1])))
    faults.push(
      `${where}.feeRates must have low, medium and high, rising whole numbers from ${rateMin} to ${max} (feeRateMax)`,
    )
  return { low: wholeOf(rates[0]), medium: wholeOf(rates[1]), high: wholeOf(rates[2]) }
}

/** A value that is not a whole number was noted as a fault before. */
const wholeOf = (value: unknown): bigint => (isWhole(value, 0, Number.MAX_SAFE_INTEGER) ? BigInt(value) : 0n)

function refuseOthers({ where, entry, faults }: Read, keys: string[]): void {
  for (const key of Object.keys(entry)) if (!keys.includes(key)) faults.push(`${where}.${key} is not a setting`)
}

function readCommon({ where, entry, faults }: Read, confirmationsDefault: number): NetworkConfig {
  const {
    rpcUrl,
    confirmations = confirmationsDefault,
    pollMilliseconds = 4000,
    startBlock,
    watchDepth,
    askAgainSeconds,
  } = entry
  if (!isWhole(confirmations, 1, 10_000)) faults.push(`${where}.confirmations must be a whole number from 1 to 10000`)
  if (!isWhole(pollMilliseconds, 50, 600_000)) {
    faults.push(`${where}.pollMilliseconds must be a whole number from 50 to 600000`)
  }
  if (startBlock !== undefined && !isWhole(startBlock, 0, Number.MAX_SAFE_INTEGER)) {
    faults.push(`${where}.startBlock must be a whole number from 0`)
  }
  const depthMin = isWhole(confirmations, 1, 10_000) ? confirmations : 1
  if (watchDepth !== undefined && !isWhole(watchDepth, depthMin, watchDepthMax)) {
    faults.push(`${where}.watchDepth must be a whole number from ${depthMin} (confirmations) to ${watchDepthMax}`)
  }
  if (askAgainSeconds !== undefined && !isWhole(askAgainSeconds, 1, 86_400)) {
    faults.push(`${where}.askAgainSeconds must be a whole number from 1 to 86400`)
  }
  return {
    rpcUrl: String(rpcUrl),
    confirmations: Number(confirmations),
    pollMilliseconds: Number(pollMilliseconds),
    ...(startBlock === undefined ? {} : { startBlock: Number(startBlock) }),
    ...(watchDepth === undefined ? {} : { watchDepth: Number(watchDepth) }),
    ...(askAgainSeconds === undefined ? {} : { askAgainSeconds: Number(askAgainSeconds) }),
  }
}

const isSocketUrl = (value: string) => URL.canParse(value) && ['ws:', 'wss:'].includes(new URL(value).protocol)
