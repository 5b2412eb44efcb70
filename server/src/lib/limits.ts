/** Every limit of the service, by name; schemas, SQL and documents reuse them. Units stand last in the names. */

export const bodyBytesMax = 1_048_576
/** Bodies of unauthenticated senders: the webhook, the sign-in, and paths that do not exist. */
export const publicBodyBytesMax = 65_536
/** Bodies that one caller may be sending at a time to one node. */
export const bodyBytesPerCallerMax = 8_388_608
/** Open connections of one node; each may hold a body of an unauthenticated sender. */
export const connectionsMax = 2_000
/** Of these, connections from one address; behind a proxy, this limit is left to the proxy. */
export const connectionsPerAddressMax = 1_000
/** Connections beyond these limits that are being answered with 503, and the time that each may take to read its answer. */
export const refusedConnectionsMax = 1_000
export const refusedConnectionSeconds = 2
/** The head of a request is small; a sender that needs longer for it than this is stalling. */
export const headSecondsMax = 10
export const keepAliveSeconds = 72
/** A form of the pages for signing in. */
export const formBytesMax = 4_096
export const jsonDepthMax = 32
/** Faults that one 400 lists, and the size of a request up to which all of them are looked for, not only the first. */
export const faultsListedMax = 100
export const faultyValuesMax = 2_000
export const validationErrorsMax = 1_000
export const proxyHopsMax = 10
/** The least strength of a secret of the operator, as lib/secret-strength.ts estimates it. */
export const secretBitsMin = 80
export const metricsTokenLengthMin = 24
/** How many times as much as a person a service may ask for: it works for many people. */
export const serviceRateFactor = 10

/** Keys of one service that are not revoked. */
export const serviceKeysMax = 10

export const pageItemsDefault = 20
export const pageItemsMax = 100
/** What one request for a page of operations reads at most, with any filters (modules/operations/feed/feed.ts). */
export const feedWindowRows = 10_000
/** Points of a timeline of balances. */
export const timelinePointsMax = 400
/** The window of a text search, which may look at the other table for each row. */
export const feedSearchedRows = 2_500
/** From how many characters on a text is searched for in addresses and hashes. */
export const searchedPartMin = 6
/** GET /search: the text, what it finds at most, and the rows of each kind whose names are looked at. */
export const searchTextLengthMin = 2
export const searchTextLengthMax = 100
export const searchResultsMax = 20
export const searchedRowsMax = 2_500
/** Ranges of an index that are merged as a stream; more than that are gathered. */
export const feedMergedRangesMax = 32
/** Rows that are gathered at once from the ranges with the newest rows, and how often that is done for one page. */
export const feedGatheredRows = 100
export const feedGatheringsMax = 5
/** Rows of the vault that are looked through for a page of many ranges, before each of them is asked. */
export const feedScannedRows = 4_000
/** Ranges that are gathered for a filter; for more than that, the rows of the vault are filtered. */
export const feedGatheredRangesMax = 1_000

/** Changes (GET /changes): how long a request waits, how many wait on a node, in all and of one caller. */
export const changeWaitSecondsMax = 25
export const changeWaitersMax = 1_000
export const changeWaitersPerCallerMax = 10
/** Reads of waiting requests that run at a time, so that they never take the connections of others. */
export const changeReadsRunningMax = 3
/** Distinct changes in one answer; after more than that a client reads anew what it shows. */
export const changesPerAnswerMax = 1_000
/** A cursor that is older is answered with `reset`; the log keeps rows for longer than any cursor. */
export const changeCursorMinutesMax = 60
export const changeLogHours = 24
/** How often a node tells the others of its commits, wakes its waiting requests, polls, and replaces a lost connection. */
export const changeSignalMilliseconds = 100
export const changeWakeMilliseconds = 200
export const changePollMilliseconds = 5_000
export const changeReconnectMilliseconds = 1_000
/** Silence on the listening connection after which the node notifies itself, to learn that it still hears. */
export const changeProbeMilliseconds = 10_000
/** The shortest pause of a background task that found nothing to do, where commits wake it. */
export const idleTaskMilliseconds = 5_000
/** Of one vault and node: hand-overs and questions in progress, and questions that begin in a second. */
export const handOversPerVaultMax = 16
export const questionsPerVaultMax = 16
export const questionsPerVaultPerSecond = 20
/** The answer of a wallet service about changes: how many, how long it is waited for, its size, and how many are written together. */
export const walletChangesMax = 1_000
export const walletChangesWaitSeconds = 25
export const walletChangesBytesMax = 2 * 1_024 * 1_024
export const walletChangesTogetherMax = 250
/** Wallet services that one node follows at the same time. */
export const followedAtOnceMax = 256
/** Of one node, whatever the vaults: more of them would wait for a connection of the database until their leases end. */
export const deliveriesInProgressMax = 512

/** What the inbox counts to: a badge shows no more. */
export const inboxCountMax = 100
/** Tokens of a payout that is signed: with its votes it fits into a request to the wallet service. */
export const signedTokensPerPayoutMax = 50
/** Votes of one request, and how long after its beginning the last of them is begun. */
export const bulkVotesMax = 100
/** Signed votes on one version of an authority that a request hands over. */
export const authorityVotesMax = 100
export const bulkVoteMilliseconds = 15_000

/** People who ordered waiting transfers that a hold meets, and get a mail about it. */
export const holdAudienceMax = 100

export const nameLengthMax = 200
export const descriptionLengthMax = 2_000
export const labelLengthMax = 200
export const tagLengthMax = 64
export const tagsMax = 50
export const noteLengthMax = 2_000
export const uriLengthMax = 2_048
/** Images that the service keeps: of the form that lists and mails show, and so many that nobody fills the database with them. */
export const imageBytesMax = 65_536
export const imagePixelsMax = 1_024
export const imagesPerVaultMax = 2_000
/** Of one thing, besides those that are shown: the replaced ones, and those that a request waits to show. */
export const imagesAsideMax = 3
/** How long an image stays at least, for pages that show it after it was replaced. */
export const replacedImageHours = 24
export const emailLengthMax = 254
export const membershipUserIdLengthMax = 128
export const idempotencyKeyLengthMax = 255
export const addressLengthMax = 128
export const txHashLengthMax = 128

export const rulesPerPolicyMax = 50
/** Policies that one simulation tries. */
export const draftPoliciesMax = 100
export const selectorsPerRuleMax = 50
export const selectorValuesMax = 200
export const selectorValueLengthMax = 128
export const velocityWindowSecondsMin = 60
export const velocityWindowSecondsMax = 2_592_000
export const approversPerPolicyMax = 100
export const approvalThresholdMax = 100
/** A backtest of policies: decisions of one read, of one that is answered at once, and of any. */
export const backtestPageRows = 1_000
export const backtestInlineMax = 2_000
export const backtestDecisionsMax = 500_000
/** How many days before the votes were asked for a backtest of a voter may begin (decision 0054). */
export const backtestDaysOfVoters = [30, 90, 365] as const
/** Whom a preview names for each requirement; it counts the others. */
export const shownVotersMax = 100
export const routesPerVaultMax = 16
export const variantsPerRouteMax = 500
export const groupsPerInvitationMax = 50
export const chainStepsMax = 50
export const addressesPerCounterpartyMax = 200

/** Rows of one payout: what one transaction checks, decides and reserves within the time of a statement. */
export const rowsPerPayoutMax = 1_000
export const externalIdLengthMax = 64

export const fieldsPerCategoryMax = 100
export const optionsPerFieldMax = 200
export const grantsPerCategoryMax = 100
export const approversPerCategoryMax = 100
export const fieldKeyLengthMax = 64
export const fieldUnitLengthMax = 16
export const fieldHelpTextLengthMax = 500
/** Fraction digits of a number or currency field. */
export const fieldScaleMax = 18
export const fieldTextLengthMax = 2_000
export const fieldOptionLengthMax = 200
/** They are listed whole, without pages. */
export const relationsPerOperationMax = 500

/** 2^256 - 1: the largest raw amount there is (contract 1.3). */
export const rawAmountMax = 2n ** 256n - 1n
export const tokenDecimalsMax = 36
export const pathIndexMax = 2_147_483_647

export const magicLinkTtlMinutes = 10
export const sessionEndDays = 30
export const userAgentLengthMax = 512
/** Requests for links by one sender: for one e-mail address, and in all. */
export const signInsPerEmailAndSenderMax = 5
export const signInsPerSenderMax = 20
export const signInWindowMinutes = 15
/** Unused sign-in links of one mailbox that unknown devices requested; it stops strangers from flooding the mailbox. */
export const unexpiredLinksPerEmailMax = 5
/** How long a challenge for a passkey can be answered. */
export const passkeyChallengeMinutes = 5
export const passkeysPerPersonMax = 20
/** How long an operator lets a person add their first passkey without a second person. */
export const firstPasskeyMinutes = 60
/** Wrong codes until a link is used up. */
export const codesPerLinkMax = 5
/** Wrong, used and expired tokens and wrong codes of one sender in the window of sign-ins. */
export const failedRedemptionsPerSenderMax = 300
export const deviceCookieDays = 365
/** Attempts to send a mail, which take about a day and a half together, and a lease that is longer than any attempt. */
export const mailAttemptsMax = 20
export const mailLeaseMilliseconds = 120_000
export const mailBackoff = { firstMilliseconds: 1_000, longestMilliseconds: 6 * 3_600_000 }
/** How long a mail is kept after its last attempt failed, so that an operator can examine it. */
export const givenUpMailDays = 14
export const idempotencyTtlHours = 24
/** After this, work that holds an Idempotency-Key and calls other services has ended, or its node has. */
export const idempotencyRunningMinutesMax = 5
export const signInAttemptTtlHours = 24
export const purgedRowsPerTransactionMax = 10_000
export const webhookToleranceSeconds = 300
export const webhookSecretBytesMin = 24

/** Group commit of the webhook: see db/group-commit.ts. */
export const eventsPerCommitMax = 256
export const eventCommitsInFlightMax = 2
export const eventsWaitingMax = 4_096

export const transactionAttemptsMax = 5
export const rateAgeMinutesMax = 15
/** How long changes of a rate add up before they count as one with a later change. */
export const rateAnchorHours = 24
export const rateAnswerBytesMax = 1_048_576
export const rateCallTimeoutMilliseconds = 10_000
/** One call to a wallet service, repetitions included. */
export const walletCallTimeoutMilliseconds = 10_000
/** One question to the screening service. An answer that comes later is none. */
export const screeningCallTimeoutMilliseconds = 10_000
export const screeningAnswerBytesMax = 16_384
/** How long a claim on a question holds; longer than the call, so that no two nodes ask it at once. */
export const screeningLeaseMilliseconds = 30_000
/** Questions that a node asks at a time. */
export const screeningsAtOnce = 10
export const screeningBackoff = { firstMilliseconds: 1_000, longestMilliseconds: 60_000 }
/** A transfer that was allowed is asked about again when it is handed over later than this. */
export const screeningValidMinutes = 60
/** How long an order waits for the scores of its payments, and how many of a payout are asked for at a time. */
export const orderScreeningMilliseconds = 15_000
export const orderScreeningsAtOnce = 10
export const screeningScoreMax = 100
/** How long an order waits for the estimate of its fee, for how long others use it, and for how many tokens it is kept. */
export const orderEstimateMilliseconds = 2_000
export const feeEstimateAgeMilliseconds = 15_000
export const feeEstimatesKeptMax = 10_000
/** The characters of policies that a node keeps in memory: some thousands of policies. */
export const keptPoliciesLengthMax = 32_000_000
export const readinessTimeoutMilliseconds = 1_000

/** How long PostgreSQL works on a statement of a request or a job, and on one of a report or of a verification. */
export const statementMilliseconds = 10_000
export const slowStatementMilliseconds = 120_000
/** How long a request waits for a free connection. */
export const databaseConnectMilliseconds = 5_000
/** A database that gives no answer (db/silence.ts): when it is tried, how long that may take, and when one connection is given up. */
export const databasePatienceMilliseconds = 1_000
export const databaseProbeMilliseconds = 2_500
export const databaseAnswerMarginMilliseconds = 2_000

/** Records that one seal may hold, and pages in which the verifier reads: they bound its memory. */
export const sealedPerBatch = 1_000

/** Audit records that get a MAC of another key in one statement. */
export const macsPerStatement = 2_000
/** A witness that is handed the heads: how long it may take, and when it is tried again. A mailbox is not filled every hour. */
export const witnessCallTimeoutMilliseconds = 10_000
export const witnessLeaseMilliseconds = 120_000
export const witnessBackoff = { firstMilliseconds: 10_000, longestMilliseconds: 3_600_000 }
export const witnessMailHoursMin = 24
/** Between two attempts to tell a wallet service that a person stopped an order. */
export const stopBackoff = { firstMilliseconds: 1_000, longestMilliseconds: 300_000 }
/** Seals of a page of them. */
export const auditSealsPageMax = 20
export const auditVerifyPageSealsMax = 20
export const auditVerifyPageSubjectsMax = 200
/** Differences of one kind that the verifier lists; there could be too many to read them all. */
export const differencesNamedMax = 100
export const auditVerifyPageRecordsMax = 1_000

export const walletResponseBytesMax = 65_536
/** How long the wallet service of a vault is asked for balances in one reconciliation. */
export const reconciliationCallsMilliseconds = 60_000

/** Balances that are read from the ledger, and then asked for, at a time. */
export const reconciledPerPage = 100

/** Addresses that the answer of a reconciliation names. */
export const differingAddressesMax = 100

/** The pause between two pages of a scheduled reconciliation, so that it never takes a wallet service for itself. */
export const reconciliationPauseMilliseconds = 200

/** A difference that is seen again this much later does not pass by itself; deposits wait for confirmations that long. */
export const differenceSettlesMinutes = 20

/** When a difference is looked at for the second time, and when a silent wallet service is asked again. */
export const reconciliationAgainMinutes = 30

/** A node that does not finish a page of a scheduled reconciliation in this time is thought dead. */
export const reconciliationLeaseSeconds = 180
export const walletReadAttemptsMax = 3
/** Transaction hashes that one transfer may have, one for each replacement; a wallet service that names more is halted. */
export const txHashesMax = 100
export const walletSecretLengthMin = 16
export const walletSecretLengthMax = 512
/** Several webhook secrets in one text, for a rotation. */
export const webhookSecretsLengthMax = 1_024
/** Address creations that wait for the same derivation prefix in one node; more are refused with Retry-After. */
export const addressCreationsWaitingMax = 500
/** How long one of them waits for its turn, and how long waiting and the call to the wallet service take together. */
export const addressTurnWaitMilliseconds = 20_000
export const addressCreationMilliseconds = 25_000
/** What an operator watches: how far it is counted, and how often a node reads it at most. */
export const countedMax = 10_000
export const watchSeconds = 5
export const watchWalletsSeconds = 30
export const watchedVaultsMax = 1_000
export const walletProbesAtOnce = 8
export const walletProbeMilliseconds = 3_000
/** Random addresses that a new wallet service must know, besides the first and the last. */
export const probedAddressesMax = 20
/** Prefixes of derivation paths among whose addresses the random ones are. */
export const probedPrefixesMax = 1_000
/** Addresses of which a new wallet service is asked at once. */
export const probesAtOnce = 4
/** Accounts of a vault whose keys are pinned when it is locked; the others when the first address of them is made. */
export const accountKeysPinnedMax = 32
/** How long locking a vault waits for its wallet service to show them. */
export const accountKeysMilliseconds = 3_000
/** How often another node may take the index we were about to use. */
export const addressIndexAttemptsMax = 25

/** Reports: the longest interval, and the longest that is cut into days. */
export const reportYearsMax = 100
export const reportDayBucketYearsMax = 10

/** Reads that take seconds (db/slow-reads.ts): reports in JSON and reconciliations, on one node. */
export const slowReadsRunningMax = 2
export const slowReadsRunningPerCallerMax = 1
export const slowReadsWaitingMax = 1_000
export const slowReadsWaitingPerCallerMax = 200
export const slowReadWaitMilliseconds = 20_000
/** Connections for them and for files of reports. */
export const slowConnectionsMax = 10
/** The time that a report waits for a replica that is behind, and the pause between two warnings about it in the log. */
export const replicaWaitMilliseconds = 2_000
export const replicaWarningMilliseconds = 60_000

/** Verifications of a ledger: attempts, and how long one is kept. The node that makes one renews its claim as for exports. */
export const verificationAttemptsMax = 3
export const verificationTtlHours = 720

/** Exports: orders of one caller that are open at a time, and finished files of theirs that are kept. */
export const exportsOpenPerCallerMax = 3
export const exportsKeptPerCallerMax = 20
export const exportTtlHours = 24
/** How long the order stays known after its file is gone. */
export const exportRecordTtlHours = 720
/** The thread that makes a file may use so much memory for objects; a million rows take a tenth of it. */
export const exportHeapMegabytesMax = 1_024
export const exportBytesMax = 1_073_741_824
export const exportChunkBytes = 262_144
/** The node that makes an export renews its claim this often; another node takes it over when the lease has ended. */
export const exportHeartbeatMilliseconds = 10_000
export const exportLeaseSeconds = 60
export const exportAttemptsMax = 3
/** Files that one node sends at a time while it makes them, and how long that may take; the others are exports. */
export const inlineFilesMax = 4
export const inlineFilesPerCallerMax = 2
export const inlineFileMilliseconds = 120_000
/** Finished files that one node sends at a time: of each it holds one chunk. A reader slower than this is cut off. */
export const downloadsMax = 32
export const downloadsPerCallerMax = 4
export const downloadBytesPerSecondMin = 65_536
export const downloadGraceMilliseconds = 60_000

/** A smaller answer would hardly become smaller by compression. */
export const compressedBytesMin = 1_024

/** Bytes of the JSON of a person's preferences. */
export const preferencesBytesMax = 32_768

/** After this time an event that matches no address is marked. */
export const unmatchedHoursMax = 24

/** The longest delay of an approved change of the rules, 30 days. */
export const governanceDelayHoursMax = 720
/** The most changes of one change set. */
export const changesPerSetMax = 200
/** How many change sets of a vault may wait for votes or for their time at once. */
export const waitingChangeSetsMax = 50

/** How long a hold on a person lasts that no second person confirms. */
export const holdConfirmationHours = 72
/** How long the same person cannot hold a person again whose hold ended unconfirmed. */
export const holdRepetitionDays = 30
