import { expect, it } from 'vitest'
import { firstHostOf, urlsOfHosts, withParameters } from './database-hosts.ts'

it.each([
  ['postgresql://app:a%2Cb@first:5432,second:5433/name?sslmode=require', 'first:5432', 'second:5433'],
  ['postgres://app@first,second/name', 'first', 'second'],
  ['postgresql://app@[::1]:5432,[::2]:5433/name', '[::1]:5432', '[::2]:5433'],
])('%s names two hosts', (url, first, second) => {
  const urls = urlsOfHosts(url)
  expect(urls.map((single) => new URL(single).host)).toEqual([first, second])
  for (const single of urls) expect(new URL(single).pathname).toBe('/name')
  expect(firstHostOf(url).username).toBe('app')
})

it('a URL of one host stays as it is', () => {
  for (const url of ['postgresql://app@db.internal/name', 'postgresql:///name?host=/run/postgresql', 'not a URL'])
    expect(urlsOfHosts(url)).toEqual([url])
})

it('parameters are for all hosts', () => {
  expect(withParameters('postgresql://app@first:1,second:2/name?a=b', { sslmode: 'verify-full' })).toBe(
    'postgresql://app@first:1,second:2/name?a=b&sslmode=verify-full',
  )
})
