import type { Answer } from './answer.ts'

/**
 * Repeats a request after a 503, as clients do. Many concurrent requests wait for the connections of the pool, and on a busy
 * machine the last of them wait longer than the service permits. A 503 has changed nothing.
 */
export async function patiently<Body>(ask: () => Promise<Answer<Body>>): Promise<Answer<Body>> {
  for (;;) {
    const answer = await ask()
    if (answer.status !== 503) return answer
  }
}
