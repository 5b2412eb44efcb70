// Downloads the account statements of the caller's addresses as PDF: node report-download.js 2026-01-01 2026-02-01 statements
import { createWriteStream, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { argument, vault } from './connect.js'

const [from, to, folder] = [argument(1, 'FROM'), argument(2, 'TO'), argument(3, 'FOLDER')]
mkdirSync(folder, { recursive: true })

for await (const { id, label, balances } of vault.addresses.list()) {
  for (const { tokenId, asset } of balances) {
    const file = await vault.reports.accountStatement({ addressId: id, tokenId, from, to, format: 'pdf' })
    const path = join(folder, `${label ?? id}-${asset}-${from}.pdf`)
    await file.stream.pipeTo(Writable.toWeb(createWriteStream(path)))
    console.log(path)
  }
}
