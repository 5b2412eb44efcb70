import { pageOf } from './openid-provider.ts'

export type CompanyPerson = {
  email: string
  /** True if the directory of the company has the person. */
  isInDirectory: boolean
  /** False if the person left the company. */
  isActive: boolean
}

/** The page of the provider on which a person signs in. The person whom Strongroom expects is the first. */
export function signInPage(people: CompanyPerson[], expected: string | null): string {
  const isExpected = ({ email }: CompanyPerson) => email === expected
  const buttons = [...people.filter(isExpected), ...people.filter((person) => !isExpected(person))]
    .filter(({ isActive }) => isActive)
    .map(({ email }) => `<p><button name="email" value="${email}">Sign in as ${email}</button></p>`)
  return pageOf(
    'Demo company',
    `<p>The identity provider of the company asks who you are. It believes you, because this is a demo.</p>
<form method="post">${buttons.join('')}</form>`,
  )
}

/** The page of the directory, on which people leave the company and come back. */
export function directoryPage(people: CompanyPerson[], fault: string | null): string {
  const rows = people
    .filter(({ isInDirectory }) => isInDirectory)
    .map(({ email, isActive }) => {
      const [state, verb] = isActive ? ['works here', 'Deactivate'] : ['left', 'Activate']
      const field = `<input type="hidden" name="email" value="${email}">`
      const button = `<button name="isActive" value="${!isActive}">${verb} ${email}</button>`
      return `<li>${email} ${state} <form method="post" action="/people">${field}${button}</form></li>`
    })
  const alert = fault === null ? '' : `<p role="alert">${asText(fault)}</p>`
  return pageOf(
    'People of the demo company',
    `${alert}<p>The directory of the company tells Strongroom at once who leaves and who comes back.</p>
<ul>${rows.join('')}</ul>
<p><a href="/session/end">Sign out at the company</a></p>`,
  )
}

/** The page for a request that the provider cannot answer. */
export const faultPage = (fault: string): string => pageOf('Demo company', `<p role="alert">${asText(fault)}</p>`)

const asText = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
