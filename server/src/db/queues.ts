/** The job queues, created by the migration; a queue is a table, which the service's own role may not create. */
export const queueNames = ['send-mail'] as const

export type QueueName = (typeof queueNames)[number]
