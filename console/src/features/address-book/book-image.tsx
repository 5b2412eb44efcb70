import { useQuery } from '@tanstack/react-query'
import { sessionQuery } from '../../lib/session.ts'
import { ImageField } from '../../ui/image-field.tsx'

type Props = {
  code: string
  of: { name: string; avatarUri: string | null }
  replace: (image: Blob) => Promise<object>
  remove: () => Promise<object>
}

/**
 * The image of an entry of the address book. Administrators change it, and the change may wait for votes like any
 * other.
 */
export function BookImage({ code, of, replace, remove }: Props) {
  const { data: session } = useQuery(sessionQuery)
  if (session?.vaults.find((vault) => vault.code === code)?.isAdmin !== true) return null
  return (
    <ImageField
      code={code}
      name={of.name}
      image={of.avatarUri}
      replace={replace}
      remove={remove}
      renews={[
        ['counterparties', code],
        ['counterparty-groups', code],
      ]}
    />
  )
}
