import { type Stack, vaultCode } from './stack.ts'

/** Lets administrators write the address book. */
export async function allowEntries(stack: Stack): Promise<void> {
  const vault = (await stack.client('admin')).vault(vaultCode)
  const { items } = await vault.policyGroups.list({ limit: 100 }).page()
  const administrators = items.find(({ code }) => code === 'administrators')!.id
  const policy = { code: `book-${Date.now()}`, name: 'The address book', actionType: 'counterparty_create' } as const
  await vault.policies.create(administrators, { ...policy, effect: 'allow' })
}
