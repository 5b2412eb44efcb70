import { expect, it } from 'vitest'
import { faultOfWalletUrl } from '../../vaults/wallets/wallet-settings.ts'

it.each(['https://wallet.example.org', 'http://127.0.0.1:9000/', 'HTTPS://wallet.example.org/v1', 'http://[::1]:80/x'])(
  'accepts %s',
  (url) => {
    expect(faultOfWalletUrl(url)).toBeNull()
  },
)

it.each([
  ['wallet.example.org', 'URL'],
  ['//wallet.example.org', 'URL'],
  ['ftp://wallet.example.org', 'http or https'],
  ['file:///etc/passwd', 'http or https'],
  ['javascript:alert(1)', 'http or https'],
  ['http:wallet.example.org', 'http or https'],
  ['http:\\\\wallet.example.org', 'http or https'],
  ['https://wallet.example.org\n/x', 'http or https'],
  ['https://user:word@wallet.example.org', 'credentials'],
  ['https://user@wallet.example.org', 'credentials'],
  ['https://wallet.example.org/#', 'fragment'],
  ['https://wallet.example.org/?a=1', 'query'],
  ['https://', 'URL'],
])('refuses %j', (url, why) => {
  expect(faultOfWalletUrl(url)).toContain(why)
})
