import Type from 'typebox'
import { Compile } from 'typebox/compile'
import { type Address, erc20Abi } from 'viem'
import { floorsOf } from '../authority/decide.ts'
import type { AnyAuthority, Order } from '../authority/documents.ts'
import type { Chain } from '../chains/open-chain.ts'
import { tokenDecimalsMax } from '../limits.ts'

type Rule = AnyAuthority['rules'][number]

/** What the page for signatures says of an order beside its fields. */
export type Description = {
  /** Of the authority in force. */
  version: number
  /** Its hash, which votes name. */
  authority: string
  isListed: boolean
  /** The rule of the token, with the floors that this order must meet; null: there is none, so it will be refused. */
  rule: Pick<Rule, 'initiators' | 'perDay' | 'floors'> | null
  /** As the node of the wallet service has it; null: it could not be read, or no rule names the token. */
  token: { symbol: string | null; decimals: number } | null
  coinDecimals: number
}

/** Of the coins of EVM networks. */
const coinDecimals = 18

export async function describeOrder(
  { network, contractAddress, toAddress, amount }: Order,
  { authority, version, hash }: { authority: AnyAuthority; version: number; hash: string },
  chain: Chain | undefined,
): Promise<Description> {
  const isListed = authority.addresses.some((one) => one.network === network && one.address === toAddress)
  const rule = authority.rules.find((one) => one.network === network && one.contractAddress === contractAddress)
  return {
    version,
    authority: hash,
    isListed,
    rule: rule === undefined ? null : { ...rule, floors: floorsOf(rule, { amount: BigInt(amount), isListed }) },
    token: rule === undefined ? null : await readToken(chain, contractAddress),
    coinDecimals,
  }
}

const Token = Compile(
  Type.Object({
    symbol: Type.String({ pattern: '^[!-~]{1,20}$' }),
    decimals: Type.Integer({ maximum: tokenDecimalsMax }),
  }),
)
type Token = { symbol: string; decimals: number }

/** What a contract says of itself does not change: the tokens that rules name are few. */
const known = new Map<string, Token>()

async function readToken(chain: Chain | undefined, contract: string | null): Promise<Description['token']> {
  if (contract === null) return { symbol: null, decimals: coinDecimals }
  if (chain === undefined) return null
  const name = `${chain.network} ${contract}`
  const before = known.get(name)
  if (before !== undefined) return before
  try {
    const call = { address: contract as Address, abi: erc20Abi } as const
    const [symbol, decimals] = await Promise.all([
      chain.client.readContract({ ...call, functionName: 'symbol' }),
      chain.client.readContract({ ...call, functionName: 'decimals' }),
    ])
    const token = { symbol, decimals }
    if (!Token.Check(token)) return null
    known.set(name, token)
    return token
  } catch {
    return null
  }
}
