import { t } from './language.ts'

export type Exchange = { status: number; ms: number; type: string; text: string | null }

/**
 * Sends a read with the session of this browser, exactly once, and returns any answer. The reference tries out the API
 * and not the SDK: a refusal does not lead to the sign-in, and a file is not read as text.
 */
export async function tryRead(path: string, signal: AbortSignal): Promise<Exchange> {
  const start = performance.now()
  const response = await fetch(path, { signal, redirect: 'manual' })
  const content = await response.blob()
  const ms = Math.round(performance.now() - start)
  const type = response.headers.get('content-type') ?? ''
  const text = /^(application\/json|text\/)/.test(type) ? await content.text() : null
  return { status: response.status, ms, type, text }
}

/** Reads a file of the console itself. */
export async function readFile<Content>(url: string, signal: AbortSignal): Promise<Content> {
  const response = await fetch(url, { signal })
  if (!response.ok)
    throw new Error(t('A file of this page could not be loaded. Reload the page.'), {
      cause: `${response.status} ${url}`,
    })
  return response.json() as Promise<Content>
}
