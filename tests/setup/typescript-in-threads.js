// Preloaded by every process of the suite, and inherited by its threads. Vitest compiles what a test imports; a thread that
// the service starts loads its program by itself, so that program is compiled here.
import { register } from 'node:module'
import { isMainThread } from 'node:worker_threads'

if (!isMainThread) register('./typescript-loader.js', import.meta.url)
