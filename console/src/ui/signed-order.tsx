import { canonicalJson, type OrderDescription, type PayoutDescription, type Quantity } from '@strongroom/sdk/signing'
import { t } from '../lib/language.ts'
import { formatTime } from '../lib/time.ts'
import { Address } from './address.tsx'
import { Amount } from './amount.tsx'
import { Badge } from './badge.tsx'
import { type Fact, Facts } from './page.tsx'

/**
 * Shows a signed document, decoded from its bytes. The service's names of people and addresses stand beside it as
 * hints.
 */

/** An amount in the unit that the authority names. An amount of an unknown token is in the smallest unit. */
export function SignedQuantity({ quantity: { raw, named } }: { quantity: Quantity }) {
  if (named !== null) return <Amount decimal={named.decimal} unit={named.symbol} />
  return <Amount decimal={raw} unit={t('in the smallest unit')} />
}

/** The contract of the token, which a symbol does not identify. */
function TokenOf({ quantity: { network, contractAddress } }: { quantity: Quantity }) {
  if (contractAddress === null) return t('the coin of {network}', { network })
  return <Address address={contractAddress} />
}

type Names = { recipient?: string | null | undefined; initiator?: string | null | undefined }

/** All signed fields of an order except its amount. */
export function SignedFacts({ shown, names = {} }: { shown: OrderDescription; names?: Names }) {
  return <Facts facts={[recipientFact(shown, names), ...factsOf(shown, names)]} />
}

function recipientFact({ recipient, isListed }: OrderDescription, names: Names): Fact {
  return [
    t('To'),
    <>
      <Address address={recipient} name={names.recipient} copy /> {/* In German the words are wider than a phone. */}
      <span className="[&>.icon]:whitespace-normal">
        {isListed ? (
          <Badge tone="good">{t('On the signed address list')}</Badge>
        ) : (
          <Badge tone="warn">{t('Not on the signed address list')}</Badge>
        )}
      </span>
    </>,
  ]
}

function factsOf(
  { amount, sender, network, feeLimit, feeLevel, initiator, vaultId, terms }: OrderDescription,
  names: Names,
) {
  return [
    [t('Token'), <TokenOf key="token" quantity={amount} />],
    [t('From'), <Address key="from" address={sender} />],
    [t('Network'), network],
    [t('Fee limit'), feeLimit === null ? t('none was set') : <SignedQuantity key="fee" quantity={feeLimit} />],
    [t('Speed of the fee'), feeLevel],
    [t('Asked by'), <Person key="by" {...initiator} name={names.initiator} />],
    [t('Signed until'), <End key="end" at={terms.expiresAt} />],
    [t('Also signed'), <AlsoSigned key="rest" values={{ vaultId, ...terms }} />],
  ] satisfies Fact[]
}

/** The initiator, with the contact that the authority has. Only the id is signed. */
function Person({ id, email, name }: { id: string; email: string | null; name?: string | null | undefined }) {
  return (
    <>
      {[name, email].filter(Boolean).join(', ')} <span className="code">{id}</span>
    </>
  )
}

function End({ at }: { at: string }) {
  return (
    <>
      {formatTime(at)} <span className="code text-quiet">{at}</span>
    </>
  )
}

/** Fields under the names that are signed. */
function AlsoSigned({ values }: { values: object }) {
  return (
    <span className="code text-[0.8125rem] text-quiet [overflow-wrap:anywhere]">
      {Object.entries(values)
        .map(([name, value]) => `${name}: ${value}`)
        .join(', ')}
    </span>
  )
}

/** The sums that a payout pays of each token, in large type. */
export function SignedSums({ shown: { sums } }: { shown: PayoutDescription }) {
  return (
    <ul>
      {sums.map((sum) => (
        <li key={`${sum.network} ${sum.contractAddress}`} className="flex flex-wrap items-baseline gap-x-3">
          <span className="text-2xl font-semibold">
            <SignedQuantity quantity={sum} />
          </span>
          <span className="text-quiet">
            {t('{count, plural, one {# payment} other {# payments}} on {network}', {
              count: sum.rowsCount,
              network: sum.network,
            })}
            {', '}
            <TokenOf quantity={sum} />
          </span>
        </li>
      ))}
    </ul>
  )
}

/** The values that all rows of a payout share. */
export function SignedHead({ shown, name }: { shown: PayoutDescription; name?: string }) {
  const { payoutId, vaultId, initiator, rulesVersion, expiresAt, rows } = shown
  return (
    <Facts
      facts={[
        [t('Asked by'), <Person key="by" {...initiator} name={name} />],
        [t('Signed until'), <End key="end" at={expiresAt} />],
        [
          t('Also signed'),
          <AlsoSigned
            key="rest"
            values={{ payoutId, vaultId, rulesVersion, rowsCount: rows.length, ...commonOf(rows) }}
          />,
        ],
      ]}
    />
  )
}

/** All signed fields of a row except its recipient, its amount and the values that all rows share. */
export function SignedRow({ row, shown }: { row: OrderDescription; shown: PayoutDescription }) {
  const common = commonOf(shown.rows)
  return <AlsoSigned values={Object.fromEntries(Object.entries(restOf(row)).filter(([name]) => !(name in common)))} />
}

function restOf({ amount, sender, network, feeLimit, feeLevel, terms }: OrderDescription): Record<string, unknown> {
  const { rulesVersion: _, expiresAt: __, ...rest } = terms
  const { contractAddress } = amount
  return { fromAddress: sender, network, contractAddress, feeLevel, maxFee: feeLimit?.raw ?? null, ...rest }
}

const known = new WeakMap<readonly OrderDescription[], Record<string, unknown>>()

/** Returns the fields that have the same value in all rows. */
function commonOf(rows: readonly OrderDescription[]): Record<string, unknown> {
  const before = known.get(rows)
  if (before !== undefined) return before
  const fieldsOfRows = rows.map(restOf)
  const common = Object.entries(fieldsOfRows[0] ?? {}).filter(([name, value]) =>
    fieldsOfRows.every((rest) => rest[name] === value),
  )
  known.set(rows, Object.fromEntries(common))
  return known.get(rows)!
}

/** The canonical form of a document, with every invisible character written out. */
export function SignedDocument({ document }: { document: object }) {
  return (
    <p className="code text-[0.8125rem] whitespace-pre-wrap [overflow-wrap:anywhere]">
      {canonicalJson(document).replace(
        /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
        (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
      )}
    </p>
  )
}
