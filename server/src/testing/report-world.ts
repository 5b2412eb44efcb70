import pg from 'pg'
import { expect, vi } from 'vitest'
import { inTransaction } from '../db/transaction.ts'
import { newId } from '../lib/ids.ts'
import { parseDecimal, usdValueOf } from '../lib/money.ts'
import type { FlowType, OperationStatus, OperationType } from '../lib/operations.ts'
import { type Posting, postEntries, posting, signedPosting } from '../modules/money/ledger/postings.ts'
import type { AnswerOf, BodyOf } from './answer.ts'
import { createTestApp, type Person, type TestApp } from './app.ts'
import { fakeAddress, fakeTxHash } from './fake-wallet.ts'
import { addMember, allowAll, createAddress, createVaultFixture, type VaultFixture } from './fixtures.ts'

type WireAddress = { id: string; address: string }
type ReportUrl<Type extends string> = `/vaults/${string}/reports/${Type}?${string}`

/** A network fee of a transfer. By default its sender paid it, for a transaction that replaced no other. */
type FeeDraft = {
  amount: string
  rate: string | null
  bookedAt?: string
  paidBy?: WireAddress
  hasReplaced?: boolean
  isCancelled?: boolean
}

export type OperationDraft = {
  type?: OperationType
  at: string
  address?: WireAddress
  by?: Person
  token?: 'usdt' | 'eth'
  /** The amount in token units. */
  amount: string
  /** USD per token unit; null when unknown. */
  rate?: string | null
  status?: OperationStatus
  flowType?: FlowType
  counterparty?: Counterparty | null
  /** The on-chain address of the other side; by default the address of the counterparty. */
  otherSide?: string
  txHash?: string | null
  tags?: string[]
  paymentPurpose?: string | null
  note?: string | null
  confirmedAt?: string | null
  blockchainAt?: string | null
  /** A booked network fee in ETH, and its USD rate at that time; null when unknown. */
  fee?: FeeDraft | null
  /** With false, the operation is written without its ledger entries. */
  isBooked?: boolean
}

export type Counterparty = { id: string; name: string; kind: string; addressId: string; address: string }

/** A vault whose operations are written directly into the database, at any date, with matching books. */
export type ReportWorld = {
  test: TestApp
  vault: VaultFixture
  admin: Person
  owner: Person
  other: Person
  /** `own` and `second` are addresses of the owner; `foreign` is an address of the other member. */
  own: WireAddress
  second: WireAddress
  foreign: WireAddress
  add(draft: OperationDraft): Promise<string>
  addCounterparty(name: string, createdAt?: string): Promise<Counterparty>
  removeCounterpartyAddress(addressId: string): Promise<void>
  /** Sends a GET of a report, which must answer 200. */
  report<Type extends string>(
    type: Type,
    query: Record<string, string>,
    by?: Person,
  ): Promise<BodyOf<'get', ReportUrl<Type>>>
  get<Type extends string>(
    type: Type,
    query: Record<string, string>,
    by?: Person,
  ): Promise<AnswerOf<'get', ReportUrl<Type>>>
  /** Returns the ids that a drill-down lists, over all pages. */
  history(filters: Record<string, string>, by?: Person): Promise<string[]>
  /**
   * Locks a table against readers until the returned function is called. `untilAwaited` resolves once a session waits for the
   * lock.
   */
  holdTable(table: string): Promise<(() => Promise<void>) & { untilAwaited(): Promise<void> }>
  // biome-ignore lint/suspicious/noExplicitAny: each test knows the type of what its query returns.
  sql(text: string, values?: unknown[]): Promise<any[]>
  close(): Promise<void>
}

const funds = 10n ** 30n

function feeColumnsOf({ fee = null, at }: OperationDraft, decimals: number) {
  if (fee === null) return {}
  const amount = parseDecimal(fee.amount, decimals)!
  return {
    fee_amount: amount.toString(),
    fee_booked_at: fee.bookedAt ?? at,
    fee_usd_rate: fee.rate,
    fee_usd_rate_as_of: fee.rate === null ? null : at,
    fee_usd_rate_source: fee.rate === null ? null : 'manual',
    fee_usd_value: fee.rate === null ? null : usdValueOf(amount, decimals, fee.rate),
  }
}

export async function createReportWorld(): Promise<ReportWorld> {
  const test = await createTestApp()
  const vault = await createVaultFixture(test)
  await allowAll(vault, 'create_address')
  const owner = await addMember(test, vault, 'owner@example.org')
  const other = await addMember(test, vault, 'other.member@example.org')
  const create = (by: Person, label: string): Promise<WireAddress> => createAddress(by, { label })
  const ownAddress = await create(owner, 'Treasury')
  const second = await create(owner, 'Payroll')
  const foreign = await create(other, 'Elsewhere')
  const asOwner = new pg.Pool({ connectionString: test.databaseUrl, max: 2 })
  asOwner.on('error', () => {})
  const sql: ReportWorld['sql'] = async (text, values = []) => (await asOwner.query(text, values)).rows
  let operations = 0

  const get: ReportWorld['get'] = (type, query, by = owner) =>
    by.get(`/vaults/${vault.code}/reports/${type}?${new URLSearchParams(query)}`)

  return {
    test,
    vault,
    admin: vault.admin,
    owner,
    other,
    own: ownAddress,
    second,
    foreign,
    sql,
    async add(draft) {
      const {
        type = 'deposit',
        address = ownAddress,
        by = owner,
        token = 'usdt',
        rate = '1',
        status = 'confirmed',
        flowType = 'external',
        counterparty = null,
        isBooked = true,
      } = draft
      const at = new Date(draft.at)
      const id = newId(at)
      operations += 1
      const { id: tokenId, decimals } = vault.tokens[token]
      const amount = parseDecimal(draft.amount, decimals)!
      const isConfirmed = status === 'confirmed'
      const txHash =
        draft.txHash === undefined ? (isConfirmed ? fakeTxHash(`report ${operations}`) : null) : draft.txHash
      const dateOr = (date: string | null | undefined) =>
        date === undefined ? (isConfirmed ? at : null) : date === null ? null : new Date(date)
      const otherSide = draft.otherSide ?? counterparty?.address ?? fakeAddress(`somebody ${operations}`)
      const row = {
        vault_id: vault.id,
        id,
        type,
        status,
        address_id: address.id,
        owner_id: address.id === foreign.id ? other.userId : owner.userId,
        initiator_id: type === 'transfer' ? by.userId : null,
        network_id: vault.networks.ethereum.id,
        token_id: tokenId,
        amount: amount.toString(),
        flow_type: flowType,
        tx_hash: txHash,
        usd_rate: rate,
        usd_value: rate === null ? null : usdValueOf(amount, decimals, rate),
        counterparty_id: counterparty?.id ?? null,
        counterparty_address_id: counterparty?.addressId ?? null,
        counterparty_name: counterparty?.name ?? null,
        counterparty_kind: counterparty?.kind ?? null,
        tags: draft.tags ?? [],
        payment_purpose: draft.paymentPurpose ?? null,
        note: draft.note ?? null,
        created_at: at,
        confirmed_at: dateOr(draft.confirmedAt),
        blockchain_at: dateOr(draft.blockchainAt),
        updated_at: at,
      }
      await sql(`insert into operations select * from json_populate_record(null::operations, $1)`, [
        JSON.stringify({ ...feeColumnsOf(draft, vault.tokens.eth.decimals), ...row }),
      ])
      if (type === 'deposit') {
        await sql(
          'insert into deposits (vault_id, id, address_id, token_id, tx_hash, tx_index, from_address, created_at) ' +
            'values ($1,$2,$3,$4,$5,$6,$7,$8)',
          [vault.id, id, address.id, tokenId, txHash ?? id, operations, otherSide, at],
        )
      } else {
        await insertTransfer([vault.id, id, otherSide, otherSide.toLowerCase(), at], draft)
      }
      if (isBooked)
        await book({ vaultId: vault.id, tokenId, addressId: address.id, operationId: id, amount }, type, status, at)
      if (isBooked) await bookFee(id, address, draft)
      return id
    },
    async addCounterparty(name, createdAt = '2020-01-01T00:00:00.000Z') {
      const at = new Date(createdAt)
      const [id, addressId] = [newId(), newId()]
      const address = fakeAddress(`counterparty ${name}`)
      await sql(
        `insert into counterparties (vault_id, id, name, kind, created_by_id, created_at, updated_at) values ($1,$2,$3,'company',$4,$5,$5)`,
        [vault.id, id, name, vault.admin.userId, at],
      )
      await sql(
        'insert into counterparty_addresses (vault_id, id, counterparty_id, network_id, address, address_key, ' +
          'created_at) values ($1,$2,$3,$4,$5,$6,$7)',
        [vault.id, addressId, id, vault.networks.ethereum.id, address, address.toLowerCase(), at],
      )
      return { id, name, kind: 'company', addressId, address }
    },
    async removeCounterpartyAddress(addressId) {
      await sql('delete from counterparty_addresses where vault_id = $1 and id = $2', [vault.id, addressId])
    },
    get,
    async report(type, query, by = owner) {
      const answer = await get(type, query, by)
      expect(answer.status, JSON.stringify(answer.body)).toBe(200)
      return answer.body
    },
    async history(filters, by = owner) {
      const ids: string[] = []
      let cursor: string | null = null
      do {
        const query: URLSearchParams = new URLSearchParams({
          ...filters,
          limit: '100',
          ...(cursor === null ? {} : { cursor }),
        })
        const { status, body }: AnswerOf<'get', '/vaults/v/history'> = await by.get(
          `/vaults/${vault.code}/history?${query}`,
        )
        expect(status, JSON.stringify(body)).toBe(200)
        ids.push(...body.items.map(({ id }) => id))
        cursor = body.nextCursor
      } while (cursor !== null)
      return ids.sort()
    },
    async holdTable(table) {
      const holder = await asOwner.connect()
      await holder.query('begin')
      await holder.query(`lock table ${table} in access exclusive mode`)
      const release = async () => {
        await holder.query('commit')
        holder.release()
      }
      const untilAwaited = () =>
        vi.waitFor(
          async () => {
            const waiting = await sql('select from pg_locks where relation = $1::regclass and not granted', [table])
            expect(waiting).toHaveLength(1)
          },
          { timeout: 60_000, interval: 10 },
        )
      return Object.assign(release, { untilAwaited })
    },
    async close() {
      await asOwner.end()
      await test.close()
    },
  }

  /** Posts the entries of an operation with this status. Transfers are paid from an unlimited adjustment. */
  async function book(
    subject: Parameters<typeof posting>[1],
    type: OperationType,
    status: OperationStatus,
    at: Date,
  ): Promise<void> {
    if (type === 'deposit') return post([posting('deposit', subject)], at)
    await fund(subject, at)
    await post([posting('reserve', subject)], at)
    if (status === 'confirmed') await post([posting('settle', subject)], at)
    else if (status !== 'pending' && status !== 'awaiting_approval') await post([posting('release', subject)], at)
  }

  async function insertTransfer(values: unknown[], { fee = null, status }: OperationDraft): Promise<void> {
    const { id: feeTokenId, decimals } = vault.tokens.eth
    const failure = fee?.isCancelled === true ? 'CANCELLED: by its owner' : 'REVERTED'
    await sql(
      `insert into transfers (vault_id, id, to_address, to_address_key, created_at, payload, payload_hash, decision, phase, fee,
        fee_token_id, fee_address_id, replaced_tx_hashes, failure_reason)
      values ($1, $2, $3, $4, $5, '{}', '', '{}', 'done', $6, $7, $8, $9, $10)`,
      [
        ...values,
        fee === null ? null : parseDecimal(fee.amount, decimals)!.toString(),
        fee === null ? null : feeTokenId,
        fee?.paidBy?.id ?? null,
        fee?.hasReplaced === true ? [fakeTxHash(`replaced ${operations}`)] : [],
        status === 'failed' ? failure : null,
      ],
    )
  }

  async function bookFee(operationId: string, sender: WireAddress, { fee = null, at }: OperationDraft): Promise<void> {
    if (fee === null) return
    const { id: tokenId, decimals } = vault.tokens.eth
    const amount = parseDecimal(fee.amount, decimals)!
    const subject = { vaultId: vault.id, tokenId, addressId: (fee.paidBy ?? sender).id, operationId, amount }
    await fund(subject, new Date(at))
    await post([posting('fee', subject)], new Date(fee.bookedAt ?? at))
  }

  /** Gives an address the unlimited adjustment, once. */
  async function fund(subject: Parameters<typeof posting>[1], at: Date): Promise<void> {
    const grant = { ...subject, operationId: newId(at), amount: funds }
    const [held] = await sql(
      `select from ledger_accounts where vault_id = $1 and address_id = $2 and token_id = $3 and balance >= $4`,
      [subject.vaultId, subject.addressId, subject.tokenId, (funds / 2n).toString()],
    )
    if (held === undefined) {
      const early = new Date('2000-01-01T00:00:00.000Z')
      await sql(
        'insert into adjustments (vault_id, id, address_id, token_id, amount, reason, created_by_id, created_at) values ' +
          `($1,$2,$3,$4,$5,'funds',$6,$7)`,
        [grant.vaultId, grant.operationId, grant.addressId, grant.tokenId, funds.toString(), vault.admin.userId, early],
      )
      await post([signedPosting('adjust', grant)], early)
    }
  }

  function post(postings: Posting[], at: Date): Promise<void> {
    return inTransaction(test.deps.db, (trx) => postEntries(trx, postings, at))
  }
}
