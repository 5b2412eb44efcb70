import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { categories } from './categories.ts'

const root = new URL('../../', import.meta.url)
const protocol = await readFile(new URL('docs/wallet-protocol.md', root), 'utf8')
const manual = await readFile(new URL('docs/wallet-conformance.md', root), 'utf8')
const checks = categories.flatMap((category) => category.checks.map((check) => ({ ...check, category: category.name })))

/** Removes the marks of Markdown, because checks quote rules as plain text. */
const plainText = (text: string) =>
  text
    .replace(/[`*_|]/g, '')
    .replace(/’/g, "'")
    .replace(/\s+/g, ' ')

/** The sections of the protocol, by the anchors of their headings. */
const sections = new Map(
  protocol.split(/^##+ /m).map((section) => {
    const heading = section.slice(0, section.indexOf('\n'))
    const anchor = heading
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .trim()
      .replace(/\s/g, '-')
    return [anchor, plainText(section)]
  }),
)

it.each(checks)('$id quotes the section that it links to', ({ section, rule }) => {
  expect(sections.get(section), section).toBeDefined()
  expect(sections.get(section)).toContain(plainText(rule))
})

it('ids are unique and begin with their category', () => {
  expect(new Set(checks.map(({ id }) => id)).size).toBe(checks.length)
  expect(checks.filter(({ id, category }) => !id.startsWith(`${category}.`))).toEqual([])
  expect(checks.length).toBeGreaterThanOrEqual(40)
})

it('docs/wallet-conformance.md lists exactly these checks', () => {
  const rows = [...manual.matchAll(/^\| `([a-z-]+\.[a-z-]+)` +\| (.*?) +\| (.*?) +\|$/gm)]
  const documented = rows.map(([, id, title, needs]) => ({ id, title, needs }))
  expect(documented).toEqual(
    checks.map(({ id, title, needs = [] }) => ({
      id,
      title: title.replaceAll('|', '\\|'),
      needs: needs.map(optionOf).join(', '),
    })),
  )
})

function optionOf(need: string): string {
  const options: Record<string, string> = {
    otherClient: '`WALLET_OTHER_TOKEN`',
    evm: 'EVM',
    outputs: 'Bitcoin, Litecoin',
    litecoin: 'Litecoin',
    token: '`--token`',
    spend: '`--spend`',
    webhooks: '`--webhook-port`',
    protected: '`WALLET_PROTECTED_TOKEN`',
    restart: '`--restart-command`',
    restore: '`--backup-command`, `--restore-command`',
    many: '`--many`',
    authorityKeys: '`--authority-keys`',
  }
  return options[need]!
}
