import { useQuery } from '@tanstack/react-query'
import { t } from '../../lib/language.ts'
import { Address } from '../../ui/address.tsx'
import { Card } from '../../ui/page.tsx'

/** The whole address, and its QR code for the camera of the payer. */
export function Receive({ address, network }: { address: string; network: string }) {
  return (
    <Card title={t('Receive')}>
      <div className="flex flex-wrap items-start gap-4">
        <QrCode text={address} />
        <div className="min-w-0 flex-1 basis-56">
          <p className="mb-2 text-quiet">{t('Only tokens of the network {network} may be sent here:', { network })}</p>
          <p className="text-lg">
            <Address address={address} copy />
          </p>
        </div>
      </div>
    </Card>
  )
}

/** A QR code as one path: dark on white in every theme, because cameras expect that. */
function QrCode({ text }: { text: string }) {
  const { data } = useQuery({
    queryKey: ['qr', text],
    queryFn: async () => (await import('uqr')).encode(text, { ecc: 'M', border: 2 }),
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (data === undefined) return <div className="size-44 rounded-md bg-white" />
  const path = data.data
    .flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])))
    .join('')
  return (
    <svg
      role="img"
      aria-label={t('QR code of the address')}
      viewBox={`0 0 ${data.size} ${data.size}`}
      shapeRendering="crispEdges"
      className="size-44 rounded-md bg-white"
    >
      <path d={path} fill="#000" />
    </svg>
  )
}
