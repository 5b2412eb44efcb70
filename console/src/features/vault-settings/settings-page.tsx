import type { Vault } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { t } from '../../lib/language.ts'
import { formatTime } from '../../lib/time.ts'
import { Badge } from '../../ui/badge.tsx'
import { DetailState } from '../../ui/list-states.tsx'
import { Card, Facts, Page } from '../../ui/page.tsx'
import { useIsAdmin } from '../people/queries.ts'
import { AuthorityCard } from './authority.tsx'
import { DraftStructure } from './draft-structure.tsx'
import { General, WalletService } from './general.tsx'
import { LockedStructure } from './locked-structure.tsx'
import { PathParser } from './path-parser.tsx'
import { Protection } from './protection.tsx'
import { vaultQuery } from './queries.ts'
import { pathFormOf } from './structure.ts'

/** Name, structure and wallet service of the vault. */
export function SettingsPage({ code }: { code: string }) {
  const isAdmin = useIsAdmin(code)
  const query = useQuery(vaultQuery(code))
  const vault = query.data
  return (
    <Page title={t('Vault settings')}>
      <DetailState query={query}>
        {vault !== undefined && (
          <>
            <State vault={vault} />
            {isAdmin && vault.lockedAt === null ? (
              <DraftStructure key={vault.updatedAt} code={code} vault={vault} />
            ) : (
              <LockedStructure {...{ code, vault, isAdmin }} />
            )}
            <PathParser code={code} form={pathFormOf([{ code: 'network' }, ...vault.routes])} />
            {isAdmin && (
              <>
                <General code={code} vault={vault} />
                <WalletService code={code} vault={vault} />
                <Protection code={code} vault={vault} />
                {vault.protection === 'votes' && <AuthorityCard code={code} />}
              </>
            )}
          </>
        )}
      </DetailState>
    </Page>
  )
}

function State({ vault }: { vault: Vault }) {
  return (
    <Card>
      <Facts
        facts={[
          [t('Name'), vault.name],
          [
            t('Code'),
            <span key="code" className="code">
              {vault.code}
            </span>,
          ],
          [t('Description'), vault.description],
          [
            t('State'),
            vault.lockedAt === null ? (
              <Badge key="state" tone="warn">
                {t('Draft')}
              </Badge>
            ) : (
              <Badge key="state" tone="good">
                {t('Locked')}
              </Badge>
            ),
          ],
          [t('Locked since'), vault.lockedAt === null ? null : formatTime(vault.lockedAt)],
          [t('Created'), formatTime(vault.createdAt)],
        ]}
      />
    </Card>
  )
}
