import type { StrongroomError, Vault } from '@strongroom/sdk'
import { vaultOf } from '../../lib/api.ts'
import { t } from '../../lib/language.ts'
import { confirmRequest } from '../../lib/passkeys.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/page.tsx'
import { useWrite, WriteFailed } from '../../ui/use-write.tsx'

/** Whether people sign what leaves the vault. */
export function Protection({ code, vault }: { code: string; vault: Vault }) {
  const isOn = vault.protection === 'votes'
  const protection = isOn ? 'off' : 'votes'
  const write = useWrite({
    renews: ['vault', code],
    said: t('The vault is changed'),
    write: async () => {
      try {
        return await vaultOf(code).protection.update({ protection })
      } catch (error) {
        if ((error as StrongroomError).reason !== 'passkey_required') throw error
        const passkeyAssertion = await confirmRequest('PUT', `/vaults/${code}/protection`)
        return vaultOf(code).protection.update({ protection }, { passkeyAssertion })
      }
    },
  })
  return (
    <Card title={t('Signed orders and votes')}>
      <WriteFailed write={write} />
      <Button busy={write.isPending} onClick={() => write.mutate()}>
        {isOn ? t('Switch off') : t('Switch on')}
      </Button>
    </Card>
  )
}
