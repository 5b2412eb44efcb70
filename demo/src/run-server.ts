import { readConfig } from '@strongroom/server/config'
import { describeFailure } from '@strongroom/server/describe-failure'
import { addPlatformAdmin } from '@strongroom/server/platform-administrators'
import { createSignInLink } from '@strongroom/server/sign-in-links'
import { type RunningServer, startServer } from '@strongroom/server/start'
import { inTransaction } from '@strongroom/server/transaction'
import { serve } from './serve.ts'

export type ServerStart = { type: 'start'; environment: Record<string, string | undefined> }
/** `redirectTo` is the page of the console that opens after the sign-in. */
export type LinkQuestion = { type: 'link'; email: string; redirectTo?: string | undefined }
export type AdministratorQuestion = { type: 'administrator'; email: string }

let server: RunningServer | null = null

serve(
  {
    async start({ environment }: ServerStart) {
      try {
        server = await startServer(readConfig(environment))
        return { url: server.url }
      } catch (error) {
        throw new Error(describeFailure(error), { cause: error })
      }
    },
    /** Answers like `strongroom admin link`: a sign-in link for the operator, who needs no password here. */
    async link({ email, redirectTo = '/' }: LinkQuestion) {
      const { deps } = server!
      return await inTransaction(deps.db, (trx) => createSignInLink(trx, deps, email, deps.clock(), redirectTo))
    },
    /** Does what `strongroom admin add` does. */
    async administrator({ email }: AdministratorQuestion) {
      const { deps } = server!
      return await inTransaction(deps.db, (trx) => addPlatformAdmin(trx, email, deps.clock()))
    },
  },
  async () => {
    await server?.stop()
  },
)
