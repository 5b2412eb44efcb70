import type { Vault } from '@strongroom/sdk'
import { vaultOf } from '../../lib/api.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/page.tsx'
import { useWrite, WriteFailed } from '../../ui/use-write.tsx'

/** The protection of the vault: people sign its transfers, or not. */
export function Protection({ code, vault }: { code: string; vault: Vault }) {
  const isOn = vault.protection === 'votes'
  const protection = isOn ? 'off' : 'votes'
  const write = useWrite({
    renews: ['vault', code],
    said: t('The vault is changed'),
    write: () => vaultOf(code).protection.update({ protection }),
  })
  return (
    <Card title={t('Signed orders and votes')}>
      <p className="mb-3">
        {t(
          'Nothing leaves the vault unless people signed it: the initiator and the voters, each with their own signing key.',
        )}
      </p>
      <WriteFailed write={write} />
      <Button busy={write.isPending} onClick={() => write.mutate()}>
        {isOn ? t('Switch off') : t('Switch on')}
      </Button>
    </Card>
  )
}
