import { ExternalLink } from 'lucide-react'
import { t } from '../../lib/language.ts'
import { spendsOutputs, useNetwork } from '../../lib/networks.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { explorerUrl } from './explorer.ts'

type Props = {
  hash: string
  network: string
  /** The part of the transaction that pays; null if it is not known. */
  index?: number | null
}

/** The whole hash, with the output that pays where there are several, and a link to the block explorer of its network. */
export function TransactionHash({ hash, network: slug, index = null }: Props) {
  const network = useNetwork(slug)
  const href = explorerUrl(network, hash)
  return (
    <span className="inline-flex flex-wrap items-center gap-x-2">
      <span className="code [overflow-wrap:anywhere]">{hash}</span>
      {index !== null && spendsOutputs(network) && <span className="text-quiet">{t('output {index}', { index })}</span>}
      <CopyButton text={hash} label={t('Copy the hash')} />
      {href !== null && (
        <a
          href={href}
          target="_blank"
          rel="noreferrer"
          className="inline-flex items-center gap-1 text-accent underline"
        >
          {t('Show in the explorer')} <ExternalLink size={14} aria-hidden />
        </a>
      )}
    </span>
  )
}
