import { sql } from 'kysely'

/** SQL: whether mail reaches a row `u` of `users`. */
export const isReachable = sql<boolean>`(u.email is not null and u.disabled_at is null)`
