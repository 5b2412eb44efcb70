import { t } from '../../lib/language.ts'

export type FirstRunFacts = {
  isLocked: boolean
  administrators: number
  /** Number of members who have signed in, each with a mailed link. */
  membersSeen: number
  hasToken: boolean
  hasPolicy: boolean
  hasAddress: boolean
  hasDeposit: boolean
  hasTransfer: boolean
  hasRate: boolean
  /** True if the reader has noted down the head of the audit log of this vault. */
  hasNotedHead: boolean
}

export type FirstRunStep = { key: string; title: string; isDone: boolean; hint: string; to: string | null }

/**
 * Returns the steps that a new vault still needs, derived from its content and never from clicks. A step without `to`
 * is done outside of the console; its hint says where.
 */
export function firstRunSteps(facts: FirstRunFacts): FirstRunStep[] {
  return [...stepsOfSetup(facts), ...stepsOfUse(facts)]
}

function stepsOfSetup(facts: FirstRunFacts): FirstRunStep[] {
  return [
    {
      key: 'mail',
      title: t('Mail arrives'),
      isDone: facts.membersSeen > 1,
      hint: t('Send yourself a sign-in link. It counts as done when a second person has signed in by mail.'),
      to: null,
    },
    {
      key: 'administrator',
      title: t('A second administrator'),
      isDone: facts.administrators > 1,
      hint: t('Invite somebody who can act when you cannot.'),
      to: '/people',
    },
    {
      key: 'token',
      title: t('A network and a token'),
      isDone: facts.hasToken,
      hint: t('A platform administrator registers the tokens of the networks of this vault.'),
      to: null,
    },
    {
      key: 'locked',
      title: t('The structure is locked'),
      isDone: facts.isLocked,
      hint: t('Decide about the segments of the derivation paths, then lock them. Addresses can be made after that.'),
      to: '/settings',
    },
    {
      key: 'policy',
      title: t('A first policy'),
      isDone: facts.hasPolicy,
      hint: t('Nothing is allowed that no policy allows. Begin with a template.'),
      to: '/policies',
    },
  ]
}

function stepsOfUse(facts: FirstRunFacts): FirstRunStep[] {
  return [
    {
      key: 'address',
      title: t('A first address, made by the wallet service'),
      isDone: facts.hasAddress,
      hint: t('The wallet service derives it, so that an address shows that it answers.'),
      to: '/addresses',
    },
    {
      key: 'deposit',
      title: t('A first deposit'),
      isDone: facts.hasDeposit,
      hint: t('Show the code of the address and send a small amount to it.'),
      to: '/addresses',
    },
    {
      key: 'transfer',
      title: t('A first transfer'),
      isDone: facts.hasTransfer,
      hint: t('Send a small amount back.'),
      to: '/send',
    },
    {
      key: 'rate',
      title: t('Rates in USD'),
      isDone: facts.hasRate,
      hint: t('Without rates, values are unknown and limits in USD ask for votes.'),
      to: null,
    },
    {
      key: 'head',
      title: t('The head of the audit log, noted down'),
      isDone: facts.hasNotedHead,
      hint: t(
        'Verify everything and keep the head outside of this service: nobody who rewrites the record can bring it back.',
      ),
      to: '/audit',
    },
  ]
}
