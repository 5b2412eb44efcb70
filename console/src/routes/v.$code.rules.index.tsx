import { createFileRoute } from '@tanstack/react-router'
import { RulesPage } from '../features/governance/rules-page.tsx'
import { type RulesTab, rulesTabs } from '../features/governance/tabs.ts'
import { PolicySentence } from '../features/policies/policy-sentence.tsx'

export const Route = createFileRoute('/v/$code/rules/')({
  validateSearch: ({ tab }: Record<string, unknown>): { tab?: RulesTab } => {
    const known = rulesTabs.find((candidate) => candidate === tab)
    return known === undefined || known === 'changes' ? {} : { tab: known }
  },
  component: Rules,
})

function Rules() {
  const navigate = Route.useNavigate()
  const { tab = 'changes' } = Route.useSearch()
  const choose = (chosen: RulesTab) =>
    void navigate({ search: chosen === 'changes' ? {} : { tab: chosen }, replace: true })
  return <RulesPage code={Route.useParams().code} {...{ tab, choose }} Sentence={PolicySentence} />
}
