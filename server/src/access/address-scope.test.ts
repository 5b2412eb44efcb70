import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type RawBuilder,
} from 'kysely'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { AppError } from '../lib/errors.ts'
import { findDeposit, listDeposits, listQuarantined } from '../modules/money/deposits/queries.ts'
import { findAccount, listAccounts, listTotals } from '../modules/money/ledger/queries.ts'
import { findSource } from '../modules/money/orders/gather.ts'
import { type findTransfer, listTransfers } from '../modules/money/transfers/queries.ts'
import { listHistory } from '../modules/operations/history/queries.ts'
import { findAddress, listAddresses } from '../modules/vaults/addresses/queries.ts'
import {
  findAddressGroupMember,
  getAddressGroup,
  listAddressGroupMembers,
  listAddressGroups,
} from '../modules/vaults/folders/queries.ts'
import { findGrant, listGrants } from '../modules/vaults/grants/queries.ts'
import {
  type AddressScope,
  addressParts,
  addressScopeOf,
  allVisible,
  isAddressInScope,
  isFolderVisible,
  isOperationInScope,
  isTransferAllowed,
  ownScopeOf,
  scopedAddressIds,
  subjectsOf,
  type Viewer,
  visibleScopeOf,
} from './address-scope.ts'
import type { Member } from './caller.ts'

const member: Viewer = { userId: 'me', readsAll: false, groupIds: ['team', 'everyone'], vault: { id: 'vault' } }
const admin: Viewer = { ...member, userId: 'admin', readsAll: true }

/** Describes a scope: `vault` for the whole vault, `of` with the owner, `shared`, and `in` with the folder. */
function partsOf({ vaultId, isWholeVault, ownerId, includesShared, folderId }: AddressScope): string {
  expect(vaultId).toBe('vault')
  const parts = [isWholeVault ? 'vault' : '', ownerId === null ? '' : `of ${ownerId}`, includesShared ? 'shared' : '']
  return [...parts, folderId === null ? '' : `in ${folderId}`].filter((part) => part !== '').join(', ')
}

describe('addressScopeOf', () => {
  const forMember: [wanted: Parameters<typeof addressScopeOf>[1], parts: string][] = [
    [undefined, 'of me'],
    [{}, 'of me'],
    [{ userId: 'me' }, 'of me'],
    [{ access: 'own' }, 'of me'],
    [{ access: 'shared' }, 'shared'],
    [{ access: 'all' }, 'of me, shared'],
    [{ includeShared: false }, 'of me'],
    [{ includeShared: true }, 'of me, shared'],
    [{ userId: 'me', includeShared: true }, 'of me, shared'],
    [{ folderId: 'f' }, 'of me, shared, in f'],
    [{ folderId: 'f', includeShared: false }, 'of me, in f'],
    [{ folderId: 'f', includeShared: true }, 'of me, shared, in f'],
    [{ folderId: 'f', access: 'own' }, 'of me, in f'],
    [{ folderId: 'f', access: 'shared' }, 'shared, in f'],
    [{ folderId: 'f', access: 'all' }, 'of me, shared, in f'],
  ]
  it.each(forMember)('gives a member who requests %j the scope: %s', (wanted, parts) => {
    expect(partsOf(addressScopeOf(member, wanted))).toBe(parts)
  })

  const forAdmin: [wanted: Parameters<typeof addressScopeOf>[1], parts: string][] = [
    [undefined, 'vault'],
    [{ access: 'own' }, 'vault'],
    [{ access: 'shared' }, 'vault'],
    [{ includeShared: true }, 'vault'],
    [{ includeShared: false }, 'vault'],
    [{ folderId: 'f' }, 'vault, in f'],
    [{ userId: 'me' }, 'of me'],
    [{ userId: 'me', access: 'all', includeShared: true }, 'of me'],
    [{ userId: 'admin' }, 'of admin'],
    [{ userId: 'me', folderId: 'f' }, 'of me, in f'],
  ]
  it.each(forAdmin)('gives an administrator who requests %j the scope: %s', (wanted, parts) => {
    expect(partsOf(addressScopeOf(admin, wanted))).toBe(parts)
  })

  it.each([{ userId: 'other' }, { userId: '' }, { userId: 'Me' }, { userId: 'other', access: 'shared' as const }])(
    'T39 refuses the scope of another owner to a member who requests %j',
    (wanted) => {
      expect(() => addressScopeOf(member, wanted)).toThrow(AppError)
      expect(() => addressScopeOf(member, wanted)).toThrow(expect.objectContaining({ status: 403 }))
    },
  )
})

describe('other scopes', () => {
  it('visibleScopeOf contains what the viewer may see', () => {
    expect([partsOf(visibleScopeOf(member)), partsOf(visibleScopeOf(admin))]).toEqual(['of me, shared', 'vault'])
  })

  it('ownScopeOf contains the addresses of the viewer only, even for an administrator', () => {
    expect([partsOf(ownScopeOf(member)), partsOf(ownScopeOf(admin))]).toEqual(['of me', 'of admin'])
  })

  it('allVisible contains what the viewer may see, also for a narrow query', () => {
    for (const wanted of [{}, { access: 'shared' as const }, { folderId: 'f' }]) {
      expect(allVisible(addressScopeOf(member, wanted))).toEqual(visibleScopeOf(member))
      expect(allVisible(addressScopeOf(admin, wanted))).toEqual(visibleScopeOf(admin))
    }
    // An administrator who requests the addresses of one owner may still see the whole vault.
    expect(allVisible(addressScopeOf(admin, { userId: 'me' }))).toEqual(visibleScopeOf(admin))
  })

  it('subjectsOf names the person and each of their groups, and an id cannot imitate another subject', () => {
    expect(subjectsOf(member)).toEqual(['user:me', 'group:team', 'group:everyone'])
    const sly = subjectsOf({ userId: 'x', groupIds: ['user:me'] })
    expect(sly.filter((subject) => subjectsOf(member).includes(subject))).toEqual([])
    expect(subjectsOf({ userId: 'group:team', groupIds: [] })).toEqual(['user:group:team'])
  })
})

describe('SQL of a scope', () => {
  const compiler = new Kysely<object>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  })
  const compiled = (part: RawBuilder<unknown>) => {
    const { sql, parameters } = part.compile(compiler)
    return { sql: sql.replace(/\s+/g, ' '), parameters }
  }

  it('has one or two parts, each limited to the vault; with a folder it has one part for every request', () => {
    const partsFor = (viewer: Viewer, folderId?: string) =>
      (['own', 'shared', 'all'] as const).map((access) =>
        addressParts(addressScopeOf(viewer, { access, folderId }), 'a'),
      )
    const counts = (...scopes: Parameters<typeof partsFor>) => partsFor(...scopes).map(({ length }) => length)
    expect([counts(member), counts(admin)]).toEqual([
      [1, 1, 2],
      [1, 1, 1],
    ])
    expect([counts(member, 'f'), counts(admin, 'f')]).toEqual([
      [1, 1, 1],
      [1, 1, 1],
    ])
    for (const folderId of [undefined, 'f']) {
      for (const part of partsFor(member, folderId).flat()) {
        const { sql, parameters } = compiled(part)
        expect(sql).toMatch(/^\("a"\."vault_id" = \$1 and /)
        expect(parameters[0]).toBe('vault')
        expect([sql.includes('f.id = m.group_id'), parameters.includes('f')]).toEqual(Array(2).fill(folderId === 'f'))
      }
    }
  })

  it('T39 names the vault in every condition', () => {
    for (const viewer of [member, admin]) {
      for (const scope of [visibleScopeOf(viewer), ownScopeOf(viewer), addressScopeOf(viewer, { folderId: 'f' })]) {
        for (const condition of [
          isAddressInScope(scope, 'x'),
          isOperationInScope(scope, 'x'),
          isFolderVisible(scope, 'x'),
        ]) {
          const { sql, parameters } = compiled(condition)
          expect(sql).toContain('"x"."vault_id" = $1')
          expect(parameters[0]).toBe('vault')
        }
        expect(compiled(scopedAddressIds(scope)).sql).toContain('"s"."vault_id" =')
      }
    }
  })

  it('T39 the rights of an administrator do not include the right to move funds', () => {
    const asAdmin = compiled(isTransferAllowed(visibleScopeOf({ ...member, readsAll: true }), 'a'))
    expect(asAdmin).toEqual(compiled(isTransferAllowed(visibleScopeOf(member), 'a')))
    expect(asAdmin.sql.match(/can_transfer/g)).toHaveLength(2)
  })

  it('passes values as parameters, never within the SQL', () => {
    const sly: Viewer = { ...member, userId: "x' or true --", groupIds: ["y'"] }
    const { sql } = compiled(isAddressInScope(addressScopeOf(sly, { folderId: "z'", access: 'all' }), 'a'))
    expect(sql).not.toContain("'")
  })
})

describe('the type of a scope', () => {
  /** An object with all fields of a scope that address-scope.ts did not make. */
  const parts = {
    vaultId: 'vault',
    viewer: { userId: 'me', readsAll: true, subjects: ['user:me'] },
    isWholeVault: true,
    ownerId: null,
    includesShared: true,
    folderId: null,
  }
  const readers = {
    listAddresses,
    findAddress,
    listGrants,
    findGrant,
    listAddressGroups,
    getAddressGroup,
    listAddressGroupMembers,
    findAddressGroupMember,
    findDeposit,
    listDeposits,
    listQuarantined,
    listHistory,
    listTotals,
    listAccounts,
    findAccount,
    findSource,
    listTransfers,
  }
  type Readers = typeof readers
  /** The names of the readers that accept such an object, or the id of a vault, in place of a scope. */
  type Lax = {
    [Name in keyof Readers]: typeof parts extends Parameters<Readers[Name]>[1]
      ? Name
      : string extends Parameters<Readers[Name]>[1]
        ? Name
        : never
  }[keyof Readers]

  it('T39 cannot be made outside its module: the compiler refuses it', () => {
    // @ts-expect-error An object with all parts of a scope is not a scope.
    const forged: AddressScope = parts
    expect(partsOf(forged)).toBe('vault, shared')
    expectTypeOf<ReturnType<typeof addressScopeOf>>().toExtend<AddressScope>()
  })

  it('T39 is required by every reader of owned data', () => {
    expectTypeOf<Lax>().toBeNever()
    expectTypeOf<Parameters<Readers[keyof Readers]>[1]>().toEqualTypeOf<AddressScope>()
    // A transfer is visible to its approvers too, so its reader requires a member instead of a scope.
    expectTypeOf<Parameters<typeof findTransfer>[1]>().toEqualTypeOf<Member>()
    for (const reader of Object.values(readers)) expect(reader.length).toBeGreaterThanOrEqual(2)
  })
})
