import { fromRaw, type Token } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { formatAmount } from '../../lib/amounts.ts'
import { t } from '../../lib/language.ts'
import { Address } from '../../ui/address.tsx'
import { Fingerprint } from '../../ui/fingerprint.tsx'
import { DetailState } from '../../ui/list-states.tsx'
import { Card, Facts } from '../../ui/page.tsx'
import { membersQuery } from '../people/queries.ts'
import { authorityQuery, tokensQuery, type VaultAuthority } from './queries.ts'

/** What the wallet service demands by itself of what leaves a protected vault. */
export function AuthorityCard({ code }: { code: string }) {
  const query = useQuery(authorityQuery(code))
  return (
    <Card title={t('Authority of the wallet service')}>
      <DetailState query={query}>
        {query.data === null && (
          <p className="text-warn">
            {t(
              'The wallet service has no authority for this vault: what is ordered waits until people have pinned one.',
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
  const tokens = useQuery(tokensQuery).data ?? []
  const nameOf = (person: string) => {
    const found = members?.find(({ userId }) => userId === person)
    return found?.name ?? found?.email ?? person
  }
  const { version, hash, keys, groups, addresses, change, rules } = authority
  return (
    <>
      <p className="mb-3 text-quiet">
        {t(
          'Compare the fingerprint with what the wallet service itself shows: a service that was taken over shows anything.',
        )}
      </p>
      <Facts
        facts={[
          [t('Version'), String(version)],
          [t('Fingerprint'), <Fingerprint key="hash" hash={hash} />],
          [t('Next version'), t('{votes} of {group} sign it', { votes: change.votes, group: change.group })],
          ...groups.map(({ id, persons }) => [t('Group {id}', { id }), persons.map(nameOf).join(', ')] as const),
        ]}
      />
      <h3 className="mt-4 mb-2 font-medium">{t('What may leave')}</h3>
      <ul className="grid gap-3">
        {rules.map((rule) => (
          <RuleLine key={`${rule.network} ${rule.contractAddress}`} rule={rule} tokens={tokens} />
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

function RuleLine({ rule, tokens }: { rule: Rule; tokens: Token[] }) {
  const { network, contractAddress, initiators, perDay, floors } = rule
  const token = tokens.find((one) => one.network === network && one.contractAddress === contractAddress)
  const amount = (raw: string) => (token === undefined ? raw : `${formatAmount(fromRaw(raw, token))} ${token.symbol}`)
  return (
    <li>
      {t('{token} on {network}: ordered by {group}', {
        token: token?.symbol ?? contractAddress ?? t('The coin'),
        network,
        group: initiators,
      })}
      {perDay !== null && (
        <span className="block">{t('at most {amount} in 24 hours', { amount: amount(perDay) })}</span>
      )}
      {floors.map(({ above, to, group, votes }) => (
        <span key={`${above} ${to} ${group}`} className="block">
          {to === 'any'
            ? t('above {amount}: {votes} of {group} approve', { amount: amount(above), votes, group })
            : t('above {amount} to others than those listed: {votes} of {group} approve', {
                amount: amount(above),
                votes,
                group,
              })}
        </span>
      ))}
    </li>
  )
}
