import { fromRaw } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { formatAmount } from '../../lib/amounts.ts'
import { t } from '../../lib/language.ts'
import { Address } from '../../ui/address.tsx'
import { Fingerprint } from '../../ui/fingerprint.tsx'
import { DetailState } from '../../ui/list-states.tsx'
import { Card, Facts } from '../../ui/page.tsx'
import { membersQuery } from '../people/queries.ts'
import { PendingFacts, ServicePageTrusted } from './pending-authority.tsx'
import { authorityQuery, type VaultAuthority } from './queries.ts'

/** The rules that the wallet service itself applies to transfers of a protected vault. */
export function AuthorityCard({ code }: { code: string }) {
  const query = useQuery(authorityQuery(code))
  return (
    <Card title={t('Authority of the wallet service')}>
      <DetailState query={query}>
        {query.data === null && (
          <p className="text-warn">
            {t(
              'The wallet service has no authority for this vault: orders wait until people have pinned an authority.',
            )}
          </p>
        )}
        {query.data && <Authority code={code} authority={query.data} />}
      </DetailState>
    </Card>
  )
}

function Authority({ code, authority }: { code: string; authority: VaultAuthority }) {
  const members = useQuery(membersQuery(code)).data
  const nameOf = (person: string) => {
    const found = members?.find(({ userId }) => userId === person)
    return found?.name ?? found?.email ?? person
  }
  const { version, hash, keys, groups, addresses, change, rules, pending, delayHours, trustsServicePage } = authority
  return (
    <>
      <p className="mb-3 text-quiet">
        {t(
          'Compare the fingerprint with the one that the wallet service itself shows: an attacker who has taken over this service can show any fingerprint here.',
        )}
      </p>
      <Facts
        facts={[
          [t('Version'), String(version)],
          [t('Fingerprint'), <Fingerprint key="hash" hash={hash} />],
          [t('Next version'), t('{votes} of {group} must sign it', { votes: change.votes, group: change.group })],
          [t('Delay of the next version'), t('{hours} hours', { hours: delayHours })],
          ...groups.map(({ id, persons }) => [t('Group {id}', { id }), persons.map(nameOf).join(', ')] as const),
        ]}
      />
      {trustsServicePage ? (
        <ServicePageTrusted />
      ) : (
        <p className="text-quiet">{t('Only passkeys of the page of the wallet service and keys of services count.')}</p>
      )}
      {pending !== null && (
        <>
          <h3 className="mt-4 mb-2 font-medium">{t('Waiting version')}</h3>
          <PendingFacts authority={authority} />
        </>
      )}
      <h3 className="mt-4 mb-2 font-medium">{t('Tokens that may leave')}</h3>
      <ul className="grid gap-3">
        {rules.map((rule) => (
          <RuleLine key={`${rule.network} ${rule.contractAddress}`} rule={rule} />
        ))}
      </ul>
      {addresses.length > 0 && (
        <>
          <h3 className="mt-4 mb-2 font-medium">{t('Listed recipients')}</h3>
          <ul className="grid gap-1">
            {addresses.map(({ network, address }) => (
              <li key={`${network} ${address}`}>
                {network} <Address address={address} />
              </li>
            ))}
          </ul>
        </>
      )}
      <h3 className="mt-4 mb-2 font-medium">{t('Keys')}</h3>
      <ul className="grid gap-3">
        {keys.map(({ id, person, name, fingerprint, origins }) => (
          <li key={id}>
            {nameOf(person)} <span className="text-quiet">{[name, ...origins].join(' · ')}</span>
            <Fingerprint hash={fingerprint} />
          </li>
        ))}
      </ul>
    </>
  )
}

type Rule = VaultAuthority['rules'][number]

/** Symbol and decimals are those of the signed authority. Without them, amounts are in the smallest unit. */
function RuleLine({ rule }: { rule: Rule }) {
  const { network, contractAddress, symbol, decimals, initiators, perDay, floors } = rule
  const name = symbol ?? contractAddress ?? t('The coin')
  const amount = (raw: string) =>
    decimals === null
      ? t('{amount} smallest units', { amount: raw })
      : `${formatAmount(fromRaw(raw, { decimals }))} ${name}`
  return (
    <li>
      {t('{token} on {network}: ordered by {group}', {
        token: name,
        network,
        group: initiators,
      })}
      {symbol !== null && decimals !== null && (
        <span className="block text-quiet">
          {t('{symbol} with {decimals} decimals, signed and compared with the chain', { symbol, decimals })}
          {contractAddress !== null && ` · ${contractAddress}`}
        </span>
      )}
      {perDay !== null && (
        <span className="block">{t('at most {amount} in 24 hours', { amount: amount(perDay) })}</span>
      )}
      {floors.map(({ above, to, group, votes }) => (
        <span key={`${above} ${to} ${group}`} className="block">
          {to === 'any'
            ? t('above {amount}: {votes} of {group} approve', { amount: amount(above), votes, group })
            : t('above {amount} to recipients that are not listed: {votes} of {group} approve', {
                amount: amount(above),
                votes,
                group,
              })}
        </span>
      ))}
    </li>
  )
}
