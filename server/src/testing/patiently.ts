import type { Answer } from './answer.ts'

/**
 * Asks again after a 503, as clients do: many requests at once wait for the connections of the pool, and on a busy machine
 * the last of them longer than the service lets them. A 503 has changed nothing.
 */
export async function patiently<Body>(ask: () => Promise<Answer<Body>>): Promise<Answer<Body>> {
  for (;;) {
    const answer = await ask()
    if (answer.status !== 503) return answer
  }
}
