import type { QueueName } from '../db/queues.ts'
import type { Deps } from '../deps.ts'
import { sendMail } from './send-mail.ts'

/** What a job does. It runs at least once, so each is safe to repeat: our tables are the truth, not the queue. */
export type JobHandler = (deps: Deps, data: object) => Promise<void>

export const jobHandlers: Partial<Record<QueueName, JobHandler>> = {
  'send-mail': sendMail,
}
