import { Company } from './company.ts'
import type { CompanyPerson } from './company-pages.ts'
import type { Client } from './openid-provider.ts'
import { serve } from './serve.ts'

export type CompanyStart = { type: 'start'; dataDir: string; port: number; people: CompanyPerson[] }
export type Registration = { type: 'register'; client: Client }
export type KeepProvider = { type: 'keepProvider'; providerId: string }
export type KeepDirectory = { type: 'keepDirectory'; directory: { id: string; token: string } }
export type PushPeople = { type: 'pushPeople'; baseUri: string }

let company: Company | null = null

serve(
  {
    async start({ dataDir, port, people }: CompanyStart) {
      company = await Company.start(dataDir, port, people)
      return company.facts
    },
    register: async ({ client }: Registration) => company!.register(client),
    keepProvider: async ({ providerId }: KeepProvider) => company!.keepProvider(providerId),
    keepDirectory: async ({ directory }: KeepDirectory) => company!.keepDirectory(directory),
    pushPeople: async ({ baseUri }: PushPeople) => await company!.pushPeople(baseUri),
  },
  async () => {
    await company?.stop()
  },
)
