import { Type } from 'typebox'
import {
  Closed,
  DecimalAmount,
  described,
  Enum,
  Id,
  IncludeShared,
  Nullable,
  optional,
  ProfileBeside,
  pageQuery,
  RawAmount,
  Timestamp,
} from '../../../http/schema.ts'
import { differingAddressesMax } from '../../../lib/limits.ts'
import { entryKinds } from './postings.ts'

const Text = (example: string) => Type.String({ examples: [example] })
const SignedRaw = Type.String({ pattern: '^-?(0|[1-9][0-9]*)$', examples: ['1500000'] })
const SignedDecimal = Type.String({ pattern: '^-?(0|[1-9][0-9]*)(\\.[0-9]+)?$', examples: ['1.5'] })

const purposes = ['available', 'reserved', 'external', 'adjustment'] as const

const exposureMeaning =
  'Exposure in the smallest unit of the token: the spent part of deposits that the chain took back, as far as it is not ' +
  'covered; normally "0". The address sends nothing while it is exposed.'

const BalanceTotal = Closed({
  token: described(
    Closed({ code: Text('USDT'), symbol: Text('₮'), decimals: Type.Integer({ examples: [6] }) }),
    'The token of the sums.',
  ),
  available: RawAmount,
  availableDecimal: DecimalAmount,
  reserved: RawAmount,
  reservedDecimal: DecimalAmount,
  exposure: described(RawAmount, exposureMeaning),
  exposureDecimal: DecimalAmount,
  usdValue: described(
    Nullable(Text('1.50')),
    'USD value of available and reserved, at the newest rate that is at most 15 minutes old; null without such a rate.',
  ),
})

const BalanceAccount = Closed({
  id: Id,
  purpose: described(
    Enum(purposes),
    'Purpose of the account: available or reserved funds of an address, or the other side of deposits, payments and adjustments.',
  ),
  balance: SignedRaw,
  balanceDecimal: SignedDecimal,
  exposure: described(RawAmount, exposureMeaning),
  exposureDecimal: DecimalAmount,
  token: described(
    Closed({ id: Id, code: Text('USDT'), symbol: Text('₮'), decimals: Type.Integer({ examples: [6] }) }),
    'The token of the account.',
  ),
  address: described(
    Nullable(
      Closed({
        id: Id,
        address: described(
          Text('0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'),
          'On-chain address; on EVM networks in EIP-55 form.',
        ),
        label: Nullable(Text('Operations')),
      }),
    ),
    'The address that the account belongs to; null for an account of the vault itself.',
  ),
})

export const Balances = Closed(
  {
    vaultId: Id,
    totals: described(Type.Array(BalanceTotal), 'Sums per token over the addresses that the caller sees.'),
    usdValue: described(
      Nullable(Text('1.50')),
      'Sum of the totals that have a rate; null if no total other than zero has a rate.',
    ),
    usdComplete: Type.Boolean({ description: 'True if every total other than zero has a rate.', examples: [true] }),
    accounts: optional(Type.Array(BalanceAccount), 'The accounts of those addresses; left out if `summary` is true.'),
    nextCursor: optional(
      Nullable(Text('MTc2ODAuY21pOGgyazFw')),
      'Value of `cursor` for the next page of accounts; null on the last page.',
    ),
  },
  { $id: 'Balances', description: 'Balances of the addresses of a vault.' },
)

const Key = (description: string) =>
  Type.String({ minLength: 1, maxLength: 128, description, examples: ['cmi8h2k1p0a1b2c3d4e5f6g7h'] })

export const BalancesQuery = Closed({
  summary: Type.Optional(Type.Boolean({ description: 'true returns totals only.' })),
  addressId: Type.Optional(Key('Restricts the list to one address, with all its tokens.')),
  token: optional(
    Type.String({ minLength: 1, maxLength: 64, examples: ['USDT'] }),
    'Code of the token; all tokens by default.',
  ),
  purpose: optional(Enum(purposes), 'Restricts the accounts to this purpose.'),
  includeShared: IncludeShared,
  ...pageQuery,
})

export const LedgerEntry = Closed(
  {
    id: Id,
    kind: described(
      Enum(entryKinds),
      'Kind of the entry: a receipt, the reservation of a transfer, its settlement, its release, a network fee, an adjustment, ' +
        'the hold of a deposit and its release, the correction of a deposit, a deposit that the chain took back and its ' +
        'return, or the cover of an exposure.',
    ),
    operationId: Id,
    purpose: described(
      Enum(['available', 'reserved']),
      'The account of the address that is affected: what can be spent, or what is reserved.',
    ),
    tokenId: Id,
    asset: Text('USDT'),
    amount: described(SignedRaw, 'Effect on the account in the smallest unit of the token; negative if it decreases.'),
    amountDecimal: SignedDecimal,
    balance: described(RawAmount, 'Balance of the account after the entry, in the smallest unit of the token.'),
    balanceDecimal: DecimalAmount,
    createdAt: Timestamp,
  },
  {
    $id: 'LedgerEntry',
    description:
      'One side of a ledger entry; the sign is its effect on the account, and `balance` is the resulting balance.',
  },
)

export const EntriesQuery = Closed({
  addressId: Key('The address whose statement is read.'),
  tokenId: Key('The token.'),
  purpose: optional(Enum(['available', 'reserved']), 'Restricts the list to entries of this account of the address.'),
  from: Type.Optional(
    Type.String({ maxLength: 40, description: 'Inclusive; ISO 8601 timestamp or date.', examples: ['2026-01-01'] }),
  ),
  to: Type.Optional(
    Type.String({ maxLength: 40, description: 'Inclusive; ISO 8601 timestamp or date.', examples: ['2026-01-31'] }),
  ),
  ...pageQuery,
})

export const PastBalance = Closed(
  {
    addressId: Id,
    tokenId: Id,
    asset: Text('USDT'),
    purpose: described(
      Enum(['available', 'reserved']),
      'The account of the address: what can be spent, or what is reserved.',
    ),
    at: described(Timestamp, 'Instant of the balance, in UTC.'),
    balance: RawAmount,
    balanceDecimal: DecimalAmount,
    entryId: described(Nullable(Id), 'Identifier of the entry that left this balance; null before the first.'),
  },
  { $id: 'PastBalance', description: '`entryId` is the entry that left this balance; null before the first.' },
)

export const PastBalanceQuery = Closed({
  addressId: Key('The address.'),
  tokenId: Key('The token.'),
  purpose: optional(Enum(['available', 'reserved']), 'The account of the address whose balance is read.'),
  at: Type.Optional(
    Type.String({
      maxLength: 40,
      description: 'Inclusive; an ISO 8601 timestamp, or a day, which means its end in UTC. Defaults to now.',
      examples: ['2026-01-31'],
    }),
  ),
})

export const AdjustmentBody = Closed({
  addressId: Key('The address.'),
  tokenId: Key('The token.'),
  amount: Type.String({
    pattern: '^-?(0|[1-9][0-9]{0,77})(\\.[0-9]{1,36})?$',
    description: 'Signed, in token units.',
    examples: ['-0.5'],
  }),
  reason: described(
    Type.String({ minLength: 1, maxLength: 500, pattern: '\\S', examples: ['Opening balance of the migration'] }),
    'Why the balance is adjusted; the audit log and the ledger keep it.',
  ),
})

export const Adjustment = Closed(
  {
    id: Id,
    vaultId: Id,
    addressId: Id,
    tokenId: Id,
    amount: described(SignedRaw, 'Effect on the balance in the smallest unit of the token; negative if it decreases.'),
    amountDecimal: SignedDecimal,
    address: described(Text('0x9858EfFD232B4033E47d90003D41EC34EcaEda94'), 'The on-chain address.'),
    asset: Text('USDT'),
    reason: described(Text('Opening balance of the migration'), 'Why the balance was adjusted.'),
    isAgreed: Type.Boolean({
      description:
        'True if two people agreed on the adjustment. In a vault with governance or protection, policies count only such ' +
        'adjustments.',
      examples: [false],
    }),
    createdById: Id,
    createdBy: ProfileBeside,
    createdAt: Timestamp,
  },
  { $id: 'Adjustment', description: 'A change of a balance without a transaction on chain.' },
)

export const AdjustmentQuery = Closed({
  isAgreed: Type.Optional(
    Type.Boolean({ description: 'true: adjustments that two people agreed on; false: all others.', examples: [false] }),
  ),
  ...pageQuery,
})

const ReconciledToken = described(
  Closed({
    id: Id,
    code: Text('USDT'),
    network: Text('ethereum'),
    decimals: Type.Integer({ examples: [6] }),
  }),
  'The token.',
)

export const Reconciliation = Closed(
  {
    vaultId: Id,
    checkedAt: described(Timestamp, 'Instant of the check, in UTC.'),
    differences: described(
      Type.Array(
        Closed({
          kind: described(Text('cached balance'), 'The check that failed.'),
          detail: described(Text('account … holds 5, its entries sum to 4'), 'Finding of the check.'),
        }),
      ),
      'Contradictions within the ledger; empty if there are none.',
    ),
    tokens: described(
      Type.Array(
        Closed({
          token: ReconciledToken,
          sumOfPostings: Type.String({
            description:
              'Sum of the entries over all accounts, including the accounts of the vault itself; must be "0".',
            examples: ['0'],
          }),
          cached: described(RawAmount, 'Sum of the balances as stored, in the smallest unit of the token.'),
          exposure: described(
            RawAmount,
            'Sum of exposures in the smallest unit of the token: the chain should have `cached` less this amount.',
          ),
          recomputed: described(
            SignedRaw,
            'Sum of the entries, in the smallest unit of the token; must equal `cached`.',
          ),
          onChain: described(
            Nullable(RawAmount),
            'Sum of the balances on chain, in the smallest unit of the token; null if an answer of the wallet service is missing.',
          ),
          difference: described(
            Nullable(SignedRaw),
            '`onChain` less `cached`, plus `exposure`, in the smallest unit of the token; null if `onChain` is null.',
          ),
          outstandingFees: described(
            RawAmount,
            'Network fees that were paid and are not posted yet, in the smallest unit of the token.',
          ),
        }),
      ),
      'The ledger compared with the chain, per token.',
    ),
    addresses: described(
      Type.Array(
        Closed({
          addressId: Id,
          address: described(Text('0x52908400098527886E0F7030069857D2E4169EE7'), 'The address on chain.'),
          token: ReconciledToken,
          inBooks: described(RawAmount, 'Available and reserved, in the smallest unit of the token.'),
          onChain: described(RawAmount, 'On chain, in the smallest unit of the token.'),
          difference: described(
            SignedRaw,
            'Difference that neither the books, nor fees that are not posted yet, nor transfers on their way explain.',
          ),
        }),
      ),
      `The addresses whose balances differ, at most ${differingAddressesMax}. A surplus of one address hides no deficit of another.`,
    ),
  },
  { $id: 'Reconciliation', description: '`onChain` is null when the wallet service did not answer for every address.' },
)

export const ledgerComponents = [Balances, LedgerEntry, PastBalance, Adjustment, Reconciliation]
