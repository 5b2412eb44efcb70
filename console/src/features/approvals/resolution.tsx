import { t } from '../../lib/language.ts'
import { formatTimeInFull } from '../../lib/time.ts'
import { Amount } from '../../ui/amount.tsx'
import { type Fact, Facts } from '../../ui/page.tsx'

/** The payload of `transfer_resolve`, as the server made it. */
export type TransferResolutionPayload = {
  outcome: 'settle' | 'release' | 'resume'
  txHash: string | null
  reason: string
  evidence: {
    askedAt: string
    proof: string
    finding: string
    difference: string | null
    haltReason: string | null
    order: { fromAddress: string; toAddress: string; network: string; contractAddress: string | null; amount: string }
    wallet: {
      transfer: { status: string; txHash: string | null } | null
      transaction: { hash: string; status: string; confirmations: number } | null
      replacement: { hash: string; status: string } | null
    }
  }
}

/** The resolution of a halted transfer that people vote on, in words, with the state that the server found. */
export function TransferResolution({ payload }: { payload: TransferResolutionPayload }) {
  const { outcome, txHash, reason, evidence } = payload
  const { order, wallet, proof, finding, difference, haltReason, askedAt } = evidence
  const { transfer, transaction, replacement } = wallet
  const asset = order.contractAddress === null ? t('the coin of the network') : order.contractAddress
  const facts: Fact[] = [
    [t('What is done'), outcomeWords()[outcome]],
    [t('Reason'), reason],
    [t('Transaction'), code(txHash)],
    [t('What was found'), proofWords()[proof] ?? finding],
    [t('In the words of the server'), finding],
    [t('Halted because'), haltReason],
    [t('Rows that were changed'), difference],
    [t('From'), code(order.fromAddress)],
    [t('To'), code(order.toAddress)],
    [t('Amount in the smallest unit'), order.amount],
    [t('Token'), asset],
    [t('Network'), order.network],
    [t('The wallet service says'), transfer === null ? t('It does not know the transfer.') : statusOf(transfer)],
    [t('The chain says'), transaction === null ? null : statusOf({ ...transaction, txHash: transaction.hash })],
    [t('What took its place'), replacement === null ? null : statusOf({ ...replacement, txHash: replacement.hash })],
    [t('Asked at'), formatTimeInFull(askedAt)],
  ]
  return <Facts facts={facts} />
}

/** The payload of `event_resolve`, as the server made it. */
export type EventResolutionPayload = {
  outcome: 'credit' | 'dismiss'
  reason: string
  evidence: {
    askedAt: string
    event: { amount: string; address: string; network: string; contract: string | null; txHash: string }
    deposit: { id: string; amount: string } | null
    finding: string
    transaction: { hash: string; status: string } | null
  }
}

/** The resolution of a held deposit that people vote on, in words. */
export function EventResolution({ payload }: { payload: EventResolutionPayload }) {
  const { outcome, reason, evidence } = payload
  const { event, deposit, finding, transaction, askedAt } = evidence
  const words = {
    credit: t('The deposit is credited as the chain reports it'),
    dismiss: t('The deposit is dismissed, and the books do not change'),
  }
  const facts: Fact[] = [
    [t('What is done'), words[outcome]],
    [t('Reason'), reason],
    [t('In the words of the server'), finding],
    [t('Amount in the smallest unit'), event.amount],
    [t('Credited before, in the smallest unit'), deposit === null ? t('nothing') : deposit.amount],
    [t('To'), code(event.address)],
    [t('Token'), event.contract ?? t('the coin of the network')],
    [t('Network'), event.network],
    [t('Transaction'), code(event.txHash)],
    [t('The chain says'), transaction === null ? null : transaction.status],
    [t('Asked at'), formatTimeInFull(askedAt)],
  ]
  return <Facts facts={facts} />
}

/** The payload of `transfer_replace`, as the server made it. */
export type FeeRaisePayload = {
  replacement: 'speed-up' | 'cancel-on-chain'
  txHash: string
  maxFee: { amountDecimal: string; asset: string }
  permitted: { amountDecimal: string; asset: string }
  order: { fromAddress: string; toAddress: string; network: string; amountDecimal: string; asset: string }
}

/** The fee limit of a replacement transaction, in words. */
export function FeeRaise({ payload }: { payload: FeeRaisePayload }) {
  const { replacement, txHash, maxFee, permitted, order } = payload
  const isFaster = replacement === 'speed-up'
  const facts: Fact[] = [
    [t('What is done'), isFaster ? t('It is sped up, and paid once') : t('It is cancelled on chain')],
    [t('Network fee at most'), amount(maxFee)],
    [t('Permitted until now'), amount(permitted)],
    [t('Amount'), amount(order)],
    [t('From'), code(order.fromAddress)],
    [t('To'), code(order.toAddress)],
    [t('Network'), order.network],
    [t('Transaction'), code(txHash)],
  ]
  return <Facts facts={facts} />
}

const amount = ({ amountDecimal, asset }: FeeRaisePayload['maxFee']) => <Amount decimal={amountDecimal} unit={asset} />

const code = (text: string | null) =>
  text === null ? null : (
    <span key={text} className="code [overflow-wrap:anywhere]">
      {text}
    </span>
  )

const statusOf = ({ status, txHash }: { status: string; txHash: string | null }) =>
  txHash === null ? status : `${status}, ${txHash}`

function outcomeWords(): Record<TransferResolutionPayload['outcome'], string> {
  return {
    settle: t('It is settled as paid'),
    release: t('It ends unpaid, and its amount is available again'),
    resume: t('It goes on'),
  }
}

function proofWords(): Record<string, string> {
  return {
    paid: t('The transaction was mined and pays exactly this.'),
    failed: t('It failed: the amount has not moved and never will.'),
    nonce_used: t('Another mined transaction used its nonce or spent its coins, so it can never be mined.'),
    never_handed_over: t('It was never approved or handed over.'),
    known: t('The wallet service has it, and is asked about it again.'),
    unknown_to_wallet: t('The wallet service does not know it, and gets it again under the same id.'),
    waits_for_votes: t('It waits for votes again.'),
    ended: t('It had ended already, and is shown so again.'),
  }
}
