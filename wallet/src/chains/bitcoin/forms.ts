import { badField } from '../../errors.ts'
import type { Chain, Payment } from '../chain.ts'
import { dustOf, readAddress } from './addresses.ts'
import { toBip84Path } from './paths.ts'
import type { UtxoNode } from './utxo-node.ts'

type Forms = Pick<
  Chain,
  | 'kind'
  | 'coinType'
  | 'coinDecimals'
  | 'hasSignedOrders'
  | 'readAddress'
  | 'readRecipient'
  | 'readContract'
  | 'readHash'
  | 'checkPayment'
  | 'accountOf'
>

/** The notation of a network of this family, and what it can do. */
export const formsOf = (node: UtxoNode): Forms => ({
  kind: {
    type: node.parameters.type,
    features: {
      derives: true,
      signsAddresses: false,
      replacement: node.parameters.replacement,
      feePayer: false,
      shared: false,
    },
  },
  coinType: node.parameters.coinType,
  coinDecimals: 8,
  hasSignedOrders: false,
  readAddress: (field, value) => readOwnForm(node, field, value),
  readRecipient: (value) => readForm(node, 'toAddress', value).address,
  readContract: (field) => refuseContract(field),
  readHash,
  checkPayment: (payment) => checkPayment(node, payment),
  accountOf: ({ coinType, indexes: [account] }) => ({
    bip32Path: toBip84Path({ coinType, indexes: [account!] }),
    script: 'p2wpkh',
  }),
})

function readForm({ network, parameters }: UtxoNode, field: string, value: string) {
  const read = readAddress(value, parameters)
  if (read === null) throw badField(field, `is not an address of the main network of ${network}`)
  return read
}

/** The scripts of own addresses are P2WPKH: two bytes and a hash of 20. */
function readOwnForm(node: UtxoNode, field: string, value: string): string {
  const { address, script } = readForm(node, field, value)
  if (script.length !== 22 || script[0] !== 0)
    throw badField(field, 'is not a P2WPKH address, as all addresses of this service are')
  return address
}

export function refuseContract(field: string): never {
  throw badField(field, 'must be null: the network has no contracts')
}

function readHash(field: string, value: string): string {
  if (!/^[0-9a-fA-F]{64}$/.test(value)) throw badField(field, 'must be 64 hexadecimal digits')
  return value.toLowerCase()
}

/** To the sender itself, payment and change could not be told apart. Nodes relay no output below dust. */
function checkPayment(node: UtxoNode, { fromAddress, toAddress, amount }: Payment): void {
  if (toAddress === fromAddress) throw badField('toAddress', 'is the sender')
  const least = dustOf(readForm(node, 'toAddress', toAddress).script, node.parameters)
  if (amount < least) throw badField('amount', `must be ${least} or more to this address`)
}
