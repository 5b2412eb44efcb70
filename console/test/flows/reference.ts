import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import type { Stack } from '../support/stack.ts'
import { axeViolations, overflowOf, settled, watchPage } from '../support/watched-page.ts'

const run = promisify(execFile)

export function referenceFlows(stack: () => Stack): void {
  describe('the reference of the API', () => {
    it('leads by keyboard from a search to a command that works, and runs it', () => findAndRun(stack()))
    it('works on a phone without a session, and asks for a sign-in only when the reader runs a command', () =>
      readOnPhone(stack()))
  })
}

async function findAndRun(stack: Stack): Promise<void> {
  const context = await stack.contextOf('admin', { permissions: ['clipboard-read', 'clipboard-write'] })
  const { page, faults } = await watchPage(context, stack.url)
  await page.goto(`${stack.url}/docs`)
  await settled(page)
  await page.keyboard.press('/')
  await page.keyboard.type('awaitingMyApproval')
  // The field occurs in no name and no path: the words of all operations load with the first use of the search.
  await page.getByRole('list', { name: 'Found' }).getByText('awaitingMyApproval').first().waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.type('list members')
  await page.getByRole('list', { name: 'Found' }).getByText('/vaults/{code}/members').waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/docs/people/listMembers')
  await settled(page)
  await page.locator('p', { hasText: 'Scope of a service token: read' }).waitFor()

  await page.getByRole('button', { name: 'Copy: Command' }).click()
  const command = await page.evaluate<string>('navigator.clipboard.readText()')
  // The command contains the first vault of the reader.
  expect(command).toMatch(/\/api\/v1\/vaults\/(reserve|treasury)\/members/)
  const token = (await context.cookies()).find(({ name }) => name === 'session_token')!.value
  const env = { ...process.env, STRONGROOM_TOKEN: token }
  const { stdout } = await run('sh', ['-c', `${command} --silent --fail`], { env })
  const names = (JSON.parse(stdout) as { items: { name: string }[] }).items.map(({ name }) => name)
  expect(names.length).toBeGreaterThan(1)

  await page.getByRole('button', { name: 'Run as me' }).press('Enter')
  const answer = page.getByRole('region', { name: 'What came back' })
  await answer.getByText(`"${names[0]}"`).first().waitFor()
  await page.getByText(/^\d+ ms$/).waitFor()
  expect(await axeViolations(page)).toEqual([])
  expect(faults).toEqual([])
  await context.close()
}

async function readOnPhone(stack: Stack): Promise<void> {
  const context = await stack.browser.newContext({ viewport: { width: 390, height: 844 }, hasTouch: true })
  const { page, faults } = await watchPage(context, stack.url)
  const requestedPaths: string[] = []
  page.on('request', (request) => requestedPaths.push(new URL(request.url()).pathname))
  await page.goto(`${stack.url}/docs`)
  await page.getByRole('button', { name: 'All operations' }).tap()
  await page.getByRole('navigation').getByRole('link', { name: 'Transfers', exact: true }).tap()
  await page.getByRole('main').getByRole('link', { name: 'Create a transfer' }).tap()
  await page.waitForURL('**/docs/transfers/createTransfer')
  await page.getByRole('region', { name: 'Command' }).getByText('-X POST').waitFor()
  expect(await page.getByRole('button', { name: 'Run as me' }).count()).toBe(0)
  await page.getByLabel('Outcome').selectOption('409 insufficient_funds')
  await page.getByRole('region', { name: 'Answer', exact: true }).getByText('"insufficient_funds"').waitFor()
  await page.getByRole('tab', { name: 'SDK' }).tap()
  await page.getByText('vault.transfers.create(').waitFor()
  await page
    .getByText(/fields of metadata/)
    .first()
    .tap()
  await page.getByText('paymentPurpose', { exact: true }).first().waitFor()
  expect(await axeViolations(page)).toEqual([])
  expect(await overflowOf(page)).toBe(0)
  expect(requestedPaths.filter((path) => path.startsWith('/api/'))).toEqual([])

  await page.goto(`${stack.url}/docs/sign-in/getCurrentSession`)
  await page.getByRole('button', { name: 'Run as me' }).tap()
  await page.getByRole('button', { name: 'Sign in, and come back here' }).tap()
  await page.waitForURL('**/sign-in?redirectTo=%2Fdocs%2Fsign-in%2FgetCurrentSession')
  expect(faults.filter((fault) => !/status of 401/.test(fault))).toEqual([])
  await context.close()
}
