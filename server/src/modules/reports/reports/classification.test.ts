import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../../lib/ids.ts'

import { fakeAddress } from '../../../testing/fake-wallet.ts'
import { type Counterparty, createReportWorld, type ReportWorld } from '../../../testing/report-world.ts'

/** Reports of operations whose other side was added to the address book later, or moved to another counterparty. */

let world: ReportWorld
beforeAll(async () => {
  world = await createReportWorld()
})
afterAll(() => world.close())

async function enter(party: Counterparty, address: string, createdAt: string): Promise<void> {
  await world.sql(
    `insert into counterparty_addresses (vault_id, id, counterparty_id, network_id, address, address_key, created_at)
      values ($1, $2, $3, $4, $5, lower($5), $6)`,
    [world.vault.id, newId(), party.id, world.vault.networks.ethereum.id, address, createdAt],
  )
}

const namesOf = (rows: { counterparty: { name: string } | null }[]) =>
  rows.map(({ counterparty }) => counterparty?.name ?? null)

describe('the counterparty of an operation in a report', () => {
  const interval = { from: '2001-03-01', to: '2001-04-01' }
  let ids: string[]
  beforeAll(async () => {
    const early = await world.addCounterparty('Early')
    const moved = await world.addCounterparty('Moved')
    const late = await world.addCounterparty('Late', '2001-06-01T00:00:00.000Z')
    const mixedCase = late.address.toUpperCase().replace('0X', '0x')
    ids = [
      await world.add({ at: '2001-03-01T12:00:00Z', amount: '1', counterparty: early }),
      await world.add({ type: 'transfer', at: '2001-03-02T12:00:00Z', amount: '2', counterparty: moved }),
      await world.add({ at: '2001-03-03T12:00:00Z', amount: '4', otherSide: mixedCase }),
      await world.add({ type: 'transfer', at: '2001-03-04T12:00:00Z', amount: '8', otherSide: late.address }),
      await world.add({ at: '2001-03-05T12:00:00Z', amount: '16', counterparty: moved }),
      await world.add({ at: '2001-03-06T12:00:00Z', amount: '32' }),
    ]
    await world.removeCounterpartyAddress(moved.addressId)
    await enter(late, moved.address, '2001-06-02T00:00:00.000Z')
  })

  it.each([
    ['current', ['Early', 'Late', 'Late', 'Late', 'Late', null]],
    ['historical', ['Early', 'Moved', null, null, 'Moved', null]],
  ])('follows counterpartyClassification=%s in operations_exceptions', async (counterpartyClassification, expected) => {
    const query = { ...interval, exceptions: 'operationsWithoutPaymentPurpose', counterpartyClassification }
    const { items, report } = await world.report('operations_exceptions', query)
    expect(report.classificationMode).toBe(counterpartyClassification)
    expect(items.map(({ id }) => id)).toEqual([...ids].reverse())
    expect(namesOf(items)).toEqual([...expected].reverse())
  })

  it('is the current counterparty in account_statement, as classificationMode says', async () => {
    const query = { ...interval, addressId: world.own.id, tokenId: world.vault.tokens.usdt.id }
    const { lines, report } = await world.report('account_statement', query)
    expect(report.classificationMode).toBe('current')
    const nameOf = (id: string) => namesOf(lines.filter((line) => line.operationId === id))[0]
    expect(ids.map(nameOf)).toEqual(['Early', 'Late', 'Late', 'Late', 'Late', null])
    const page = await world.report('account_statement', { ...query, limit: '3' })
    expect(page.lines).toEqual(lines.slice(0, 3))
  })

  it('is listed with the exceptions of its operation, which dataQuality counts', async () => {
    const { items, dataQuality } = await world.report('operations_exceptions', {
      ...interval,
      exceptions: 'unmatchedOperations,retroactivelyMatchedOperations,conflictingCounterpartyClassifications',
    })
    expect(items.map((item) => [item.id, ...item.exceptions])).toEqual([
      [ids[5], 'unmatchedOperations'],
      [ids[4], 'conflictingCounterpartyClassifications'],
      [ids[3], 'retroactivelyMatchedOperations'],
      [ids[2], 'retroactivelyMatchedOperations'],
      [ids[1], 'conflictingCounterpartyClassifications'],
    ])
    expect(dataQuality).toMatchObject({
      unmatchedOperations: 1,
      retroactivelyMatchedOperations: 2,
      conflictingCounterpartyClassifications: 2,
    })
  })
})

describe('COUNTERPARTY_CONCENTRATION after an operation was matched later', () => {
  it('names the known share, and the number of operations for which the history differs', async () => {
    const main = await world.addCounterparty('Main')
    const minor = await world.addCounterparty('Minor')
    const address = fakeAddress('entered late')
    await world.add({ at: '2002-03-01T12:00:00Z', amount: '500', counterparty: main })
    await world.add({ at: '2002-03-01T12:00:00Z', amount: '300', counterparty: minor })
    await world.add({ at: '2002-03-02T12:00:00Z', amount: '100', otherSide: address })
    await world.add({ at: '2002-03-03T12:00:00Z', amount: '100' })
    await enter(main, address, '2002-03-20T12:00:00Z')
    const concentration = async (counterpartyClassification: string) => {
      const query = { addressId: world.own.id, from: '2002-03-01', to: '2002-04-01', counterpartyClassification }
      const { observations } = await world.report('address_activity', query)
      const found = observations.find(({ code }) => code === 'COUNTERPARTY_CONCENTRATION')!
      return [found.currentValue, found.description]
    }
    expect(await concentration('current')).toEqual([
      60,
      'Main has at least 50 per cent of the turnover. 10 per cent of it has no known counterparty. 1 operation has ' +
        'another counterparty now than when created; the history lists it under the recorded counterparty.',
    ])
    expect(await concentration('historical')).toEqual([
      50,
      'Main has at least 50 per cent of the turnover. 20 per cent of it has no known counterparty.',
    ])
  })
})

describe('NEW_COUNTERPARTY after operations were matched later', () => {
  const interval = { from: '2003-03-01', to: '2003-04-01' }
  const newOnes = async (counterpartyClassification: string) => {
    const query = { addressId: world.own.id, ...interval, counterpartyClassification }
    const { observations } = await world.report('address_activity', query)
    return observations.flatMap(({ code, description }) => (code === 'NEW_COUNTERPARTY' ? [description] : []))
  }

  it('leaves out a counterparty of an earlier operation that only the present address book knows', async () => {
    const known = await world.addCounterparty('Known')
    const fresh = await world.addCounterparty('Fresh')
    const address = fakeAddress('entered after both')
    await world.add({ at: '2003-02-01T12:00:00Z', amount: '1', otherSide: address })
    await world.add({ at: '2003-03-01T12:00:00Z', amount: '1', counterparty: known })
    await world.add({ at: '2003-03-02T12:00:00Z', amount: '1', counterparty: fresh })
    await enter(known, address, '2003-03-20T12:00:00Z')
    expect((await newOnes('historical')).sort()).toEqual([
      expect.stringContaining('Fresh'),
      expect.stringContaining('Known'),
    ])
    expect(await newOnes('current')).toEqual([expect.stringContaining('Fresh')])
  })
})
