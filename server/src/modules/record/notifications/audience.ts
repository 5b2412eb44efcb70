import { sql } from 'kysely'

/** SQL: whether the user `u` can get mail. */
export const isReachable = sql<boolean>`(u.email is not null and u.disabled_at is null)`
