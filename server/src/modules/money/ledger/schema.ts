import { Type } from 'typebox'
import {
  Closed,
  DecimalAmount,
  Enum,
  Id,
  IncludeShared,
  Nullable,
  pageQuery,
  RawAmount,
  Timestamp,
} from '../../../http/schema.ts'

const Text = (example: string) => Type.String({ examples: [example] })
const SignedRaw = Type.String({ pattern: '^-?(0|[1-9][0-9]*)$', examples: ['1500000'] })
const SignedDecimal = Type.String({ pattern: '^-?(0|[1-9][0-9]*)(\\.[0-9]+)?$', examples: ['1.5'] })

const purposes = ['available', 'reserved', 'external', 'adjustment'] as const

const BalanceTotal = Closed({
  token: Closed({ code: Text('USDT'), symbol: Text('₮'), decimals: Type.Integer({ examples: [6] }) }),
  available: RawAmount,
  availableDecimal: DecimalAmount,
  reserved: RawAmount,
  reservedDecimal: DecimalAmount,
})

const BalanceAccount = Closed({
  id: Id,
  purpose: Enum(purposes),
  balance: SignedRaw,
  balanceDecimal: SignedDecimal,
  token: Closed({ id: Id, code: Text('USDT'), symbol: Text('₮'), decimals: Type.Integer({ examples: [6] }) }),
  address: Nullable(
    Closed({
      id: Id,
      address: Text('0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'),
      label: Nullable(Text('Operations')),
    }),
  ),
})

export const Balances = Closed(
  {
    vaultId: Id,
    totals: Type.Array(BalanceTotal),
    accounts: Type.Optional(Type.Array(BalanceAccount)),
    nextCursor: Type.Optional(Nullable(Text('MTc2ODAuY21pOGgyazFw'))),
  },
  { $id: 'Balances' },
)

const Key = (description: string) =>
  Type.String({ minLength: 1, maxLength: 128, description, examples: ['cmi8h2k1p0a1b2c3d4e5f6g7h'] })

export const BalancesQuery = Closed({
  summary: Type.Optional(Type.Boolean({ description: 'true returns totals only.' })),
  addressId: Type.Optional(Key('One address, all its tokens.')),
  token: Type.Optional(Type.String({ minLength: 1, maxLength: 64, examples: ['USDT'] })),
  purpose: Type.Optional(Enum(purposes)),
  includeShared: IncludeShared,
  ...pageQuery,
})

export const LedgerEntry = Closed(
  {
    id: Id,
    kind: Enum(['deposit', 'reserve', 'settle', 'release', 'fee', 'adjust']),
    operationId: Id,
    purpose: Enum(['available', 'reserved']),
    tokenId: Id,
    asset: Text('USDT'),
    amount: SignedRaw,
    amountDecimal: SignedDecimal,
    balance: RawAmount,
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
  purpose: Type.Optional(Enum(['available', 'reserved'])),
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
    purpose: Enum(['available', 'reserved']),
    at: Timestamp,
    balance: RawAmount,
    balanceDecimal: DecimalAmount,
    entryId: Nullable(Id),
  },
  { $id: 'PastBalance', description: '`entryId` is the entry that left this balance; null before the first.' },
)

export const PastBalanceQuery = Closed({
  addressId: Key('The address.'),
  tokenId: Key('The token.'),
  purpose: Type.Optional(Enum(['available', 'reserved'])),
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
  reason: Type.String({ minLength: 1, maxLength: 500, pattern: '\\S', examples: ['Opening balance of the migration'] }),
})

export const Adjustment = Closed(
  {
    id: Id,
    vaultId: Id,
    addressId: Id,
    tokenId: Id,
    amount: SignedRaw,
    amountDecimal: SignedDecimal,
    reason: Text('Opening balance of the migration'),
    createdById: Id,
    createdAt: Timestamp,
  },
  { $id: 'Adjustment' },
)

export const Reconciliation = Closed(
  {
    vaultId: Id,
    checkedAt: Timestamp,
    differences: Type.Array(
      Closed({ kind: Text('cached balance'), detail: Text('account … holds 5, its entries sum to 4') }),
    ),
    tokens: Type.Array(
      Closed({
        token: Closed({
          id: Id,
          code: Text('USDT'),
          network: Text('ethereum'),
          decimals: Type.Integer({ examples: [6] }),
        }),
        sumOfPostings: Type.String({
          description: 'Over all accounts, the vault-level ones included; must be "0".',
          examples: ['0'],
        }),
        cached: RawAmount,
        recomputed: SignedRaw,
        onChain: Nullable(RawAmount),
        difference: Nullable(SignedRaw),
        outstandingFees: RawAmount,
      }),
    ),
  },
  { $id: 'Reconciliation', description: '`onChain` is null when the wallet service did not answer for every address.' },
)

export const ledgerComponents = [Balances, LedgerEntry, PastBalance, Adjustment, Reconciliation]
