// Compares invoices with deposits: [{ "invoice": "4711", "address": "0x…", "token": "TUSD", "amount": "1200.50" }]
import { readFileSync } from 'node:fs'
import { fromRaw, toRaw } from '@strongroom/sdk'
import { argument, strongroom, vault } from './connect.js'

/** @type {{ invoice: string, address: string, token: string, amount: string }[]} */
const invoices = JSON.parse(readFileSync(argument(1, 'invoices.json'), 'utf8'))

/** @type {Map<string, import('@strongroom/sdk').Token>} */
const tokens = new Map()
for await (const token of strongroom.tokens.list()) tokens.set(token.code, token)

/** Received amounts by address and token, in smallest units. @type {Map<string, bigint>} */
const received = new Map()
for await (const deposit of vault.deposits.list({ limit: 100 })) {
  if (!('address' in deposit)) continue
  const key = `${deposit.address.address} ${deposit.asset}`
  received.set(key, (received.get(key) ?? 0n) + BigInt(deposit.amount))
}

for (const { invoice, address, token: code, amount } of invoices) {
  const token = tokens.get(code)
  if (token === undefined) throw new Error(`There is no token ${code}`)
  const difference = (received.get(`${address} ${code}`) ?? 0n) - toRaw(amount, token)
  const state = difference === 0n ? 'paid' : difference < 0n ? 'open' : 'overpaid'
  console.log(invoice, state, difference === 0n ? '' : fromRaw(difference, token))
}
