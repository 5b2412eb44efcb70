import type { Network } from '@strongroom/sdk'
import { useState } from 'react'
import { strongroom } from '../../lib/api.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/button.tsx'
import { inputClass, TextField } from '../../ui/field.tsx'
import { ImageField } from '../../ui/image-field.tsx'
import { useWrite, WriteFailed } from '../../ui/use-write.tsx'
import { knownLinks } from './known-explorers.ts'

/** The links of a network to a block explorer. Everything else about a network never changes. */
export function ExplorerForm({ network, onDone }: { network: Network; onDone: () => void }) {
  const [transaction, setTransaction] = useState(network.explorerTxUrl ?? '')
  const [address, setAddress] = useState(network.explorerAddressUrl ?? '')
  const known = knownLinks(network)
  const write = useWrite({
    write: () =>
      strongroom.networks.update(network.id, {
        explorerTxUrl: orNull(transaction),
        explorerAddressUrl: orNull(address),
      }),
    renews: ['networks'],
    said: t('{name} is saved.', { name: network.name }),
    onDone,
  })
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        write.mutate()
      }}
    >
      <ImageField
        name={network.name}
        image={network.logoUri}
        replace={(image) => strongroom.networks.replaceImage(network.id, image)}
        remove={() => strongroom.networks.deleteImage(network.id)}
        renews={[['networks']]}
      />
      <p className="mb-4 text-quiet">
        {t('Pages show these links beside transactions and addresses. The service itself never calls them.')}
      </p>
      <TextField
        label={t('Link to a transaction')}
        hint={t('With {placeholder} where the hash belongs. Empty for no link.', { placeholder: '{hash}' })}
        className={linkClass}
        spellCheck={false}
        inputMode="url"
        value={transaction}
        error={write.fields.get('explorerTxUrl')}
        onChange={({ target }) => setTransaction(target.value)}
      />
      <TextField
        label={t('Link to an address')}
        hint={t('With {placeholder} where the address belongs. Empty for no link.', { placeholder: '{address}' })}
        className={linkClass}
        spellCheck={false}
        inputMode="url"
        value={address}
        error={write.fields.get('explorerAddressUrl')}
        onChange={({ target }) => setAddress(target.value)}
      />
      {known !== null && transaction === '' && address === '' && (
        <Button
          look="quiet"
          className="mb-4"
          onClick={() => {
            setTransaction(known.explorerTxUrl)
            setAddress(known.explorerAddressUrl)
          }}
        >
          {t('Fill in those of {host}', { host: new URL(known.explorerTxUrl).host })}
        </Button>
      )}
      <WriteFailed write={write} shown={['explorerTxUrl', 'explorerAddressUrl']} />
      <Button type="submit" look="primary" busy={write.isPending}>
        {t('Save')}
      </Button>
    </form>
  )
}

const linkClass = `${inputClass} code`

function orNull(link: string): string | null {
  return link.trim() === '' ? null : link.trim()
}
