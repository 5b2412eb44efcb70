/**
 * All limits of the service. Schemas, SQL and documents use them. The unit is at the end of a name.
 * tidy: long because it is a list.
 */

export const bodyBytesMax = 1_048_576
/** Bodies of unauthenticated senders: the webhook, the sign-in, and paths that do not exist. */
export const publicBodyBytesMax = 65_536
/** The total size of the bodies that one caller sends to one node at a time. */
export const bodyBytesPerCallerMax = 8_388_608
/** Open connections of one node. Each of them may hold a body of an unauthenticated sender. */
export const connectionsMax = 2_000
/** The connections among these from one address. Behind a proxy, the proxy must limit them. */
export const connectionsPerAddressMax = 1_000
/** Connections beyond these limits that are being answered with 503, and the time in which each must read its answer. */
export const refusedConnectionsMax = 1_000
export const refusedConnectionSeconds = 2
/** The time for the head of a request. Heads are small, so that a sender that needs longer is stalling. */
export const headSecondsMax = 10
export const keepAliveSeconds = 72
/** A node that stops: the age at which a connection without a request is ended, and the time that running requests still have. */
export const quietConnectionMilliseconds = 1_000
export const lastRequestsMilliseconds = 7_000
/** A form of the pages for signing in. */
export const formBytesMax = 4_096
export const jsonDepthMax = 32
/** The faults that one 400 lists, and the size of a request up to which all of them are collected, not only the first. */
export const faultsListedMax = 100
export const faultyValuesMax = 2_000
export const validationErrorsMax = 1_000
export const proxyHopsMax = 10
/** The least strength of a secret of the operator, as lib/secret-strength.ts estimates it. */
export const secretBitsMin = 80
export const metricsTokenLengthMin = 24
/** The factor by which the rate of a service may exceed that of a person, because it works for many people. */
export const serviceRateFactor = 10

/** The keys of one service that are not revoked. */
export const serviceKeysMax = 10

export const pageItemsDefault = 20
export const pageItemsMax = 100
/** The rows that one request for a page of operations reads, with any filters (modules/operations/feed/feed.ts). */
export const feedWindowRows = 10_000
/** The points of a timeline of balances. */
export const timelinePointsMax = 400
/** The rows that one request of a text search reads. For each row it may read another table. */
export const feedSearchedRows = 2_500
/** The number of characters from which on a text is also searched in addresses and hashes. */
export const searchedPartMin = 6
/** GET /search: the length of the text, the number of results, and the rows of each type whose names are compared. */
export const searchTextLengthMin = 2
export const searchTextLengthMax = 100
export const searchResultsMax = 20
export const searchedRowsMax = 2_500
/** The ranges of an index that are merged as a stream. More ranges are gathered. */
export const feedMergedRangesMax = 32
/** The rows that are gathered at once from the ranges with the newest rows, and the number of rounds for one page. */
export const feedGatheredRows = 100
export const feedGatheringsMax = 5
/** The rows of the vault that are searched for a page of many ranges, before each range is queried. */
export const feedScannedRows = 4_000
/** The ranges that are gathered for a filter. With more ranges, the rows of the vault are filtered. */
export const feedGatheredRangesMax = 1_000

/** GET /changes: the time that a request waits, and the requests that wait on a node, of all callers and of one. */
export const changeWaitSecondsMax = 25
export const changeWaitersMax = 1_000
export const changeWaitersPerCallerMax = 10
/** The reads of waiting requests that run at a time, so that they never take the connections of others. */
export const changeReadsRunningMax = 3
/** The distinct changes in one answer. After more changes a client must read its data again. */
export const changesPerAnswerMax = 1_000
/** The age of a cursor beyond which the answer is `reset`. The log keeps rows for longer than any cursor. */
export const changeCursorMinutesMax = 60
export const changeLogHours = 24
/** The intervals at which a node notifies the others of its commits, wakes its waiting requests, polls, and reconnects. */
export const changeSignalMilliseconds = 100
export const changeWakeMilliseconds = 200
export const changePollMilliseconds = 5_000
export const changeReconnectMilliseconds = 1_000
/** The silence on the listening connection after which the node notifies itself, to test the connection. */
export const changeProbeMilliseconds = 10_000
/** The shortest pause of a background task that found nothing to do, if commits wake the task. */
export const idleTaskMilliseconds = 5_000
/** Per vault and node: hand-overs and questions at its wallet service, and hand-overs that are prepared meanwhile. */
export const handOversPerVaultMax = 16
export const handOversPreparedMax = 16
export const questionsPerVaultMax = 16
/** Per vault and node: questions that begin in a second. The vault sets how many. */
export const questionsPerSecondDefault = 20
export const questionsPerSecondMax = 1_000
/** A list of a wallet service: its number of entries, the time to wait, the size, and the changes per transaction. */
export const walletChangesMax = 1_000
export const walletChangesWaitSeconds = 25
export const walletChangesBytesMax = 2 * 1_024 * 1_024
export const walletChangesTogetherMax = 250
/** The wallet services that one node follows at the same time. */
export const followedAtOnceMax = 256
/** Deliveries of one node, over all vaults. More of them would wait for a connection of the database until their leases end. */
export const deliveriesInProgressMax = 512
/** The part of them that hand-overs may take, or questions: the others have the rest, also while many wallet services hang. */
export const deliveriesOfQueueMax = 448

/** The largest number that the inbox counts to. A badge shows no more. */
export const inboxCountMax = 100
/** The tokens of a signed payout. With its votes it fits into a request to the wallet service. */
export const signedTokensPerPayoutMax = 50
/** The votes of one request, and the time after its beginning within which the last vote is begun. */
export const bulkVotesMax = 100
export const bulkVoteMilliseconds = 15_000
/** The signed votes on one version of an authority that one request hands over. */
export const authorityVotesMax = 100

/** The people who get a mail about a hold because they ordered waiting transfers that it stops. */
export const holdAudienceMax = 100

export const nameLengthMax = 200
export const descriptionLengthMax = 2_000
export const labelLengthMax = 200
export const tagLengthMax = 64
export const tagsMax = 50
export const noteLengthMax = 2_000
export const uriLengthMax = 2_048
/** Images that the service keeps: the largest size, and the number in a vault, so that they cannot fill the database. */
export const imageBytesMax = 65_536
export const imagePixelsMax = 1_024
export const imagesPerVaultMax = 2_000
/** The images of one subject that it does not show: replaced images, and images of waiting requests. */
export const imagesAsideMax = 3
/** The time for which a replaced image is kept at least, for pages that still show it. */
export const replacedImageHours = 24
export const emailLengthMax = 254
export const membershipUserIdLengthMax = 128
export const idempotencyKeyLengthMax = 255
export const addressLengthMax = 128
export const txHashLengthMax = 128

export const rulesPerPolicyMax = 50
/** The policies that one simulation tries. */
export const draftPoliciesMax = 100
export const selectorsPerRuleMax = 50
export const selectorValuesMax = 200
export const selectorValueLengthMax = 128
export const velocityWindowSecondsMin = 60
export const velocityWindowSecondsMax = 2_592_000
export const approversPerPolicyMax = 100
export const approvalThresholdMax = 100
/** The decisions of a backtest of policies: in one read, in a backtest that is answered at once, and in any backtest. */
export const backtestPageRows = 1_000
export const backtestInlineMax = 2_000
export const backtestDecisionsMax = 500_000
/** The days before the request for votes from which a backtest of a voter may begin (decision 0054). */
export const backtestDaysOfVoters = [30, 90, 365] as const
/** The voters that a preview names for each requirement. It counts the others. */
export const shownVotersMax = 100
export const routesPerVaultMax = 16
export const variantsPerRouteMax = 500
export const groupsPerInvitationMax = 50
export const chainStepsMax = 50
export const addressesPerCounterpartyMax = 200

/** The rows of one payout. One transaction checks, decides and reserves them within the time limit of a statement. */
export const rowsPerPayoutMax = 1_000
export const externalIdLengthMax = 64

export const fieldsPerCategoryMax = 100
export const optionsPerFieldMax = 200
export const grantsPerCategoryMax = 100
export const approversPerCategoryMax = 100
export const fieldKeyLengthMax = 64
export const fieldUnitLengthMax = 16
export const fieldHelpTextLengthMax = 500
/** The fraction digits of a number or currency field. */
export const fieldScaleMax = 18
export const fieldTextLengthMax = 2_000
export const fieldOptionLengthMax = 200
/** The relations of one operation. They are listed without pages. */
export const relationsPerOperationMax = 500

/** 2^256 - 1: the largest possible raw amount (contract 1.3). */
export const rawAmountMax = 2n ** 256n - 1n
export const tokenDecimalsMax = 36
export const pathIndexMax = 2_147_483_647

export const magicLinkTtlMinutes = 10
export const sessionEndDays = 30
export const userAgentLengthMax = 512
/** The requests for links by one sender: for one e-mail address, and in all. */
export const signInsPerEmailAndSenderMax = 5
export const signInsPerSenderMax = 20
export const signInWindowMinutes = 15
/** The unused sign-in links of one mailbox that unknown devices requested, so that strangers cannot flood the mailbox. */
export const unexpiredLinksPerEmailMax = 5
/** The time in which a challenge for a passkey must be answered. */
export const passkeyChallengeMinutes = 5
export const passkeysPerPersonMax = 20
/** The time for which an operator lets a person add their first passkey without a second person. */
export const firstPasskeyMinutes = 60
/** The wrong codes after which a link is used up. */
export const codesPerLinkMax = 5
/** The wrong, used and expired tokens and wrong codes of one sender in the window of sign-ins. */
export const failedRedemptionsPerSenderMax = 300
export const deviceCookieDays = 365
/** The attempts to send a mail, which take about a day and a half together, and a lease that is longer than any attempt. */
export const mailAttemptsMax = 20
export const mailLeaseMilliseconds = 120_000
export const mailBackoff = { firstMilliseconds: 1_000, longestMilliseconds: 6 * 3_600_000 }
/** The time for which a mail is kept after its last attempt failed, so that an operator can examine it. */
export const givenUpMailDays = 14
export const idempotencyTtlHours = 24
/** The time after which work that holds an Idempotency-Key and calls other services has ended, or its node has. */
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
/** The time over which changes of a rate add up to one change. */
export const rateAnchorHours = 24
export const rateAnswerBytesMax = 1_048_576
export const rateCallTimeoutMilliseconds = 10_000
/** One call to a wallet service, including repetitions. */
export const walletCallTimeoutMilliseconds = 10_000
/** One question to the screening service. A later answer is ignored. */
export const screeningCallTimeoutMilliseconds = 10_000
export const screeningAnswerBytesMax = 16_384
/** The lease of a claim on a question. It is longer than the call, so that no two nodes send it at once. */
export const screeningLeaseMilliseconds = 30_000
/** The questions that a node sends at a time. */
export const screeningsAtOnce = 10
export const screeningBackoff = { firstMilliseconds: 1_000, longestMilliseconds: 60_000 }
/** The time between the answer and the hand-over after which an allowed transfer is screened again. */
export const screeningValidMinutes = 60
/** The time that an order waits for the scores of its payments, and the payments of a payout that are screened at a time. */
export const orderScreeningMilliseconds = 15_000
export const orderScreeningsAtOnce = 10
export const screeningScoreMax = 100
/** The fee estimate of an order: the time to wait, the time for which others use it, and the tokens for which it is kept. */
export const orderEstimateMilliseconds = 2_000
export const feeEstimateAgeMilliseconds = 15_000
export const feeEstimatesKeptMax = 10_000
/** The characters of policies that a node keeps in memory: some thousands of policies. */
export const keptPoliciesLengthMax = 32_000_000
export const readinessTimeoutMilliseconds = 1_000

/** The time limits of PostgreSQL for a statement: of a request or a job, and of a report or a verification. */
export const statementMilliseconds = 10_000
export const slowStatementMilliseconds = 120_000
/** The time that a request waits for a free connection. */
export const databaseConnectMilliseconds = 5_000
/** A silent database (db/silence.ts): when it is tried, the time of a try, when a connection, a commit without standby is given up. */
export const databasePatienceMilliseconds = 1_000
export const databaseProbeMilliseconds = 2_500
export const databaseAnswerMarginMilliseconds = 2_000
export const standbyPatienceMilliseconds = 3_000
/** The pauses between heartbeats, while changes are refused too, and the age after which one is not recent. */
export const heartbeatMilliseconds = { pause: 5_000, pauseWhileRefused: 1_000, stale: 12_000 }

/** The records of one seal, and of a page that the verifier reads. They limit its memory. */
export const sealedPerBatch = 1_000

/** The audit records that get a MAC of another key in one statement. */
export const macsPerStatement = 2_000
/** The hand-over of the heads to a witness: its time, and the pauses before repetitions. A mailbox gets fewer mails. */
export const witnessCallTimeoutMilliseconds = 10_000
export const witnessLeaseMilliseconds = 120_000
export const witnessBackoff = { firstMilliseconds: 10_000, longestMilliseconds: 3_600_000 }
export const witnessMailHoursMin = 24
/** The pauses between two attempts to send a signed stop to a wallet service. */
export const stopBackoff = { firstMilliseconds: 1_000, longestMilliseconds: 300_000 }
/** The seals of one page. */
export const auditSealsPageMax = 20
export const auditVerifyPageSealsMax = 20
export const auditVerifyPageSubjectsMax = 200
/** The differences of one type that the verifier lists. There could be too many to read them all. */
export const differencesNamedMax = 100
export const auditVerifyPageRecordsMax = 1_000
/** The records of one action and hash that are read. The service writes one of them; an intruder may have written others. */
export const recordsOfHashMax = 100

export const walletResponseBytesMax = 65_536
/** An answer of the wallet service about an authority has the version in force and the next version, of 96 KiB each. */
export const walletAuthorityBytesMax = 262_144
/** The time for which one reconciliation asks the wallet service of a vault for balances. */
export const reconciliationCallsMilliseconds = 60_000

/** The balances that are read from the ledger, and then asked for, at a time. */
export const reconciledPerPage = 100

/** The addresses that the answer of a reconciliation names. */
export const differingAddressesMax = 100

/** The pause between two pages of a scheduled reconciliation, so that it does not occupy a wallet service. */
export const reconciliationPauseMilliseconds = 200

/** The age at which a difference that is seen again is reported. Deposits may wait for confirmations until then. */
export const differenceSettlesMinutes = 20

/** The pause before a difference is checked again, and before a silent wallet service is asked again. */
export const reconciliationAgainMinutes = 30

/** The time after which a node that has not finished a page of a scheduled reconciliation counts as dead. */
export const reconciliationLeaseSeconds = 180
export const walletReadAttemptsMax = 3
/** The transaction hashes of one transfer, one per replacement. A transfer with more of them is halted. */
export const txHashesMax = 100
export const walletSecretLengthMin = 16
export const walletSecretLengthMax = 512
/** The length of a text with several webhook secrets, for a rotation. */
export const webhookSecretsLengthMax = 1_024
/** The address creations that wait for one derivation prefix in one node. More are refused with Retry-After. */
export const addressCreationsWaitingMax = 500
/** The time that a creation waits for its turn, and the time for the wait and the call to the wallet service together. */
export const addressTurnWaitMilliseconds = 20_000
export const addressCreationMilliseconds = 25_000
/** The watched figures: the largest count, and the shortest interval at which a node reads them. */
export const countedMax = 10_000
export const watchSeconds = 5
export const watchWalletsSeconds = 30
export const watchedVaultsMax = 1_000
export const walletProbesAtOnce = 8
export const walletProbeMilliseconds = 3_000
/** The random addresses that a new wallet service must know, besides the first and the last. */
export const probedAddressesMax = 20
/** The prefixes of derivation paths from which the random addresses are taken. */
export const probedPrefixesMax = 1_000
/** The addresses for which a new wallet service is asked at once. */
export const probesAtOnce = 4
/** The greatest index of an output or a log within a transaction. */
export const txIndexMax = 2_147_483_647
/** The outputs that lead from a transfer to the transaction that took its place. */
export const rivalOutputsMax = 100
/** The accounts whose keys are pinned when a vault is locked. Later accounts are pinned with their first address. */
export const accountKeysPinnedMax = 32
/** The time that the locking of a vault waits for the keys of its wallet service. */
export const accountKeysMilliseconds = 3_000
/** The attempts to store an address when other nodes take the index first. */
export const addressIndexAttemptsMax = 25

/** Reports: the longest interval, and the longest interval that is divided into days. */
export const reportYearsMax = 100
export const reportDayBucketYearsMax = 10

/** The operations of a report that are looked up by their ids. Of more operations, a table of the vault is read from end to end. */
export const reportedOperationsNamedMax = 5_000
/** The same limit for the operations of a larger report that have a category or a later entry of the address book. */
export const reportedOperationsAsideMax = 50_000

/** Slow reads (db/slow-reads.ts) of one node: reports in JSON and reconciliations. */
export const slowReadsRunningMax = 2
export const slowReadsRunningPerCallerMax = 1
export const slowReadsWaitingMax = 1_000
export const slowReadsWaitingPerCallerMax = 200
export const slowReadWaitMilliseconds = 20_000
/** The connections for slow reads and for files of reports. */
export const slowConnectionsMax = 10
/** The time that a report waits for a replica that is behind, and the pause between two warnings about it in the log. */
export const replicaWaitMilliseconds = 2_000
export const replicaWarningMilliseconds = 60_000

/** Verifications of a ledger: attempts, and the time for which one is kept. The claim is renewed as for exports. */
export const verificationAttemptsMax = 3
export const verificationTtlHours = 720

/** Exports: open orders of one caller, and their finished files that are kept. */
export const exportsOpenPerCallerMax = 3
export const exportsKeptPerCallerMax = 20
export const exportTtlHours = 24
/** The time for which an order stays known after its file is deleted. */
export const exportRecordTtlHours = 720
/** The memory for objects of the thread that makes a file. A million rows take a tenth of it. */
export const exportHeapMegabytesMax = 1_024
export const exportBytesMax = 1_073_741_824
export const exportChunkBytes = 262_144
/** The interval at which the node of an export renews its claim. Another node takes it over when the lease has ended. */
export const exportHeartbeatMilliseconds = 10_000
export const exportLeaseSeconds = 60
export const exportAttemptsMax = 3
/** An archive for an auditor: its transfers, its accounts, and the accounts up to which each has its statement as PDF too. */
export const archiveTransfersMax = 40_000
export const archiveAccountsMax = 20_000
export const archivePrintedAccountsMax = 500
/** The seals of one page of an archive, and the clock skew between the nodes that write and that seal. */
export const archivePageSealsMax = 1_000
export const archiveClockSkewMinutes = 10
/** The files that one node sends while it makes them, at a time, and the time for one. Other files are exports. */
export const inlineFilesMax = 4
export const inlineFilesPerCallerMax = 2
export const inlineFileMilliseconds = 120_000
/** The finished files that one node sends at a time. It holds one chunk of each. A slower reader is cut off. */
export const downloadsMax = 32
export const downloadsPerCallerMax = 4
export const downloadBytesPerSecondMin = 65_536
export const downloadGraceMilliseconds = 60_000

/** The size below which an answer is not compressed, because it would hardly become smaller. */
export const compressedBytesMin = 1_024

/** The bytes of the JSON of a person's preferences. */
export const preferencesBytesMax = 32_768

/** The time after which an event that matches no address is marked. */
export const unmatchedHoursMax = 24

/** The longest delay of an approved change of the rules, 30 days. */
export const governanceDelayHoursMax = 720
/** The changes of one change set. */
export const changesPerSetMax = 200
/** The change sets of a vault that wait for votes or for their time at once. */
export const waitingChangeSetsMax = 50

/** The time after which a hold on a person ends if no second person confirms it. */
export const holdConfirmationHours = 72
/** The time for which a person cannot place a second hold on someone whose hold ended unconfirmed. */
export const holdRepetitionDays = 30

export const domainsPerProviderMax = 20
export const domainLengthMax = 253
export const issuerLengthMax = 512
export const clientIdLengthMax = 256
export const clientSecretLengthMax = 512
/** The life of a session of an identity provider, in hours: by default, and at most. */
export const providerSessionHours = 12
export const providerSessionHoursMax = 24
/** A sign-in through a provider ends within this time, and so does the link that confirms a first one. */
export const providerSignInMinutes = 10
export const providerCallTimeoutMilliseconds = 8_000
export const providerAnswerBytesMax = 262_144
/** The metadata of a provider are read again after this time. */
export const providerMetadataMinutes = 10
/** The keys and metadata of a provider are read again at most this often, whatever it answers. */
export const providerReloadSeconds = 5
/** The clock of a provider may differ by this. */
export const providerClockSeconds = 30

export const domainsPerDirectoryMax = 20
/** The life of a directory's token, in days: by default, and at most. */
export const directoryTokenDays = 180
export const directoryTokenDaysMax = 365
/** The time before its end from which monitoring warns of a token of a directory. */
export const directoryTokenWarningDays = 14
export const networksPerTokenMax = 20
/** The days before the end of a service token at which the administrators of its vault get a mail. */
export const serviceTokenWarningDays = [14, 3, 1] as const
/** The time for which the token before a rotation still works, in hours: by default, and at most. */
export const directoryOverlapHours = 24
export const directoryOverlapHoursMax = 168
/** The people whom a directory may stop within an hour. More stops wait for a platform administrator if they exceed a fifth. */
export const directoryStopsFree = 5
export const scimFilterBytesMax = 1_000
export const scimFilterDepthMax = 16
export const scimPageItemsMax = 200
export const scimPageItemsDefault = 100
export const scimOperationsMax = 1_000
export const scimEmailsMax = 20
export const scimTextLengthMax = 320
/** The metadata and keys of an active provider are read at least this often, for those who operate the service. */
export const providerWatchMinutes = 5
/** The people who may sign in without their provider in an emergency. */
export const breakGlassPeopleMax = 5
export const breakGlassSessionHours = 1
/** A sign-in through a provider within this time shows that a platform administrator can sign in with it. */
export const enforcedWithinDays = 30
