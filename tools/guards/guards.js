/**
 * A guard of the project, and the edit of its source that removes it. `guarded` occurs exactly once in the file.
 * `tests` must fail when it is removed.
 *
 * @typedef {{ threat: string, name: string, file: string, guarded: string, unguarded: string, tests: string[] }} Guard
 */

/** @type {(file: string, tests: string[], removals: [string, string, string, string][]) => Guard[]} */
const guardsOf = (file, tests, removals) =>
  removals.map(([threat, name, guarded, unguarded]) => ({ threat, name, file, guarded, unguarded, tests }))

/** @type {Guard[]} */
export const guards = [
  ...guardsOf(
    'wallet/src/authority/decide.ts',
    ['wallet/src/authority/decide.test.ts'],
    [
      [
        'T58',
        'an order belongs to the vault of the authority',
        "['vaultId', order.vaultId === authority.vaultId],",
        '',
      ],
      ['T58', 'an order has the id that was signed', "['transferId', order.transferId === ordered.id],", ''],
      [
        'T58',
        'an order pays the recipient that was signed',
        "['toAddress', order.toAddress === ordered.toAddress],",
        '',
      ],
      ['T58', 'an order pays the amount that was signed', "['amount', BigInt(order.amount) === ordered.amount],", ''],
      [
        'T58',
        'an order has the fee limit that was signed',
        "['maxFee', (order.maxFee === undefined ? null : BigInt(order.maxFee)) === ordered.maxFee],",
        '',
      ],
      ['T58', 'an order expires at its time', 'now.getTime() > Date.parse(order.expiresAt)', 'false'],
      ['T58', 'votes name the authority in force', 'refusalOfVersion(read.value, authority) ??', ''],
      ['T58', 'a vote is about the order', 'if (vote.subject !== subject || vote.hash !== hash)', 'if (false)'],
      [
        'T58',
        'a key belongs to the person of the vote',
        'if (key === undefined || key.person !== person) {',
        'if (key === undefined) {',
      ],
      ['T58', 'a vote is signed by its key', 'if (!isSignedBy(key, signed)) return', 'if (false) return'],
      ['T58', 'nobody signs in the future', 'refusalOfFuture(votes, now) ??', ''],
      ['T58', 'an order ends within 30 days of its signature', 'refusalOfEnd(read.value) ??', ''],
      ['T58', 'the initiator does not approve', 'approvers.delete(initiatorId)', ''],
      ['T58', 'a person who rejected does not approve', 'persons.delete(vote.person)', ';'],
      [
        'T58',
        'the initiator signed the order',
        "if (!votersOf(votes, ['initiate']).has(initiatorId)) {",
        'if (false) {',
      ],
      [
        'T58',
        'the initiator may order',
        'if (!personsOf(authority, rule.initiators).includes(initiatorId)) {',
        'if (false) {',
      ],
      ['T58', 'a day has a limit', 'if (orderedLastDay + amount > BigInt(rule.perDay)) {', 'if (false) {'],
      [
        'T59',
        'a version names the hash of the previous version',
        ' || next.previous !== hashOfAuthority(authority)) {',
        ') {',
      ],
      ['T59', 'enough people sign the next version', 'return signatures >= needed', 'return true'],
    ],
  ),
  ...guardsOf(
    'wallet/src/authority/verify-vote.ts',
    ['wallet/src/authority/decide.test.ts'],
    [
      ['T58', 'a passkey signs for the page of the authority', 'if (!origins.includes(data.origin)) return null', ''],
      [
        'T58',
        'a passkey signs for the domain of the authority',
        'if (!authenticator.subarray(0, 32).equals(sha256(rpId))) return null',
        '',
      ],
      ['T58', 'a passkey signs this vote', ' || data.challenge !== challenge', ''],
      ['T58', 'a passkey verifies its person', ' || (flags & flagUserVerified) === 0', ''],
    ],
  ),
  ...guardsOf(
    'wallet/src/authority/journal.ts',
    ['wallet/src/authority/journal.test.ts'],
    [
      ['T26', 'an order is signed with one nonce', 'earlier.nonce !== claimed.nonce', 'false'],
      ['T58', 'the file counts the orders of a day', 'signed + BigInt(claimed.amount) > BigInt(perDay)', 'false'],
    ],
  ),
  ...guardsOf(
    'sdk/src/signing/sign.ts',
    ['sdk/src/signing/signing.test.ts'],
    [
      ['T80', 'a person signs orders of their own', 'if (initiatorId !== person) throw', 'if (false) throw'],
      ['T80', 'an order that is signed has not ended', 'if (end <= now) throw', 'if (false) throw'],
      [
        'T80',
        'an order that is signed ends within 30 days',
        'if (end > now + daysMax * day) throw',
        'if (false) throw',
      ],
      [
        'T80',
        'a request is signed as it was shown',
        'if (canonicalJson(boundPayload) !== expected.document)',
        'if (false)',
      ],
      [
        'T80',
        'an authority is signed as it was shown',
        'if (canonicalJson(next) !== document) throw',
        'if (false) throw',
      ],
      ['T80', 'an authority follows the one in force', ' || next.previous !== authority.hash)', ')'],
      ['T80', 'rules are approved where their differences are bound', ' && isUnbound(document))', ' && false)'],
      ['T80', 'the answer of a page is the vote that was asked for', 'assertSameVote(signed.vote, vote)', ''],
    ],
  ),
  ...guardsOf(
    'sdk/src/signing/expected.ts',
    ['sdk/src/signing/signing.test.ts'],
    [['T80', 'an order is signed as it was expected', 'spelledAs(order, orderOf(expected, authority))', 'order']],
  ),
  ...guardsOf(
    'server/src/lib/strict-json.ts',
    ['server/src/lib/strict-json.test.ts'],
    [['T41', 'a body names each key once', 'if (keys.has(key)) throw', 'if (false) throw']],
  ),
  ...guardsOf(
    'server/src/access/address-scope.ts',
    ['server/src/access/address-scope.test.ts'],
    [
      [
        'T40',
        'a member cannot read data of another member',
        'if (userId !== undefined && userId !== member.userId) {',
        'if (false) {',
      ],
    ],
  ),
  ...guardsOf(
    'server/src/modules/rules/decisions/dual-control.ts',
    ['server/src/modules/rules/decisions/dual-control.test.ts'],
    [
      [
        'T72',
        'no policy waives the second person',
        'bypassed: false, allowInitiator: false',
        'bypassed: true, allowInitiator: true',
      ],
    ],
  ),
  ...guardsOf(
    'server/src/modules/money/holds/people.ts',
    ['server/src/modules/money/holds/people.test.ts'],
    [
      [
        'T82',
        'the person who placed a hold on somebody does not confirm it',
        'if (hold.placedById === actorId)',
        'if (false)',
      ],
      ['T82', 'nobody holds a person again and again', 'if (rows.length === 0) return', 'return'],
    ],
  ),
  ...guardsOf(
    'server/src/modules/money/adjustments/adjust-together.ts',
    ['server/src/modules/money/adjustments/adjust-together.test.ts'],
    [
      ['T82', 'an adjustment under governance takes two people', 'return underQuorum || (', 'return (false) || ('],
      ['T82', 'an adjustment in a dispute takes two people', " || (isInDispute && !amount.startsWith('-'))", ''],
    ],
  ),
  ...guardsOf(
    'server/src/modules/rules/governance/reset.ts',
    ['server/src/modules/rules/governance/reset.test.ts'],
    [['T82', 'governance is reset only where it is on', 'if (before.threshold === 0) throw', 'if (false) throw']],
  ),
  ...guardsOf(
    'server/src/modules/money/deposits/signers.ts',
    ['server/src/modules/money/deposits/signature.test.ts'],
    [['T13', 'a webhook is signed', 'if (!demo || webhookSecrets.length > 0)', 'if (false)']],
  ),
]
