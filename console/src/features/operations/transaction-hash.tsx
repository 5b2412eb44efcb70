import { useQuery } from '@tanstack/react-query'
import { ExternalLink } from 'lucide-react'
import { t } from '../../lib/language.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { explorerUrl } from './explorer.ts'
import { networksQuery } from './queries.ts'

/** The whole hash, with a link to the block explorer of its network, if it has one. */
export function TransactionHash({ hash, network }: { hash: string; network: string }) {
  const { data: networks = [] } = useQuery(networksQuery)
  const href = explorerUrl(
    networks.find(({ slug }) => slug === network),
    hash,
  )
  return (
    <span className="inline-flex flex-wrap items-center gap-x-2">
      <span className="code [overflow-wrap:anywhere]">{hash}</span>
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
