/** Every limit of the wallet service, named once; schemas, SQL and documentation reuse them. */

/** Largest amount of any token in its smallest unit: the EVM word, 2^256 - 1. */
export const amountMax = 2n ** 256n - 1n

/** Largest child number of a path: BIP-32 keeps the upper half for hardened children, which the path notation never names. */
export const pathIndexMax = 2 ** 31 - 1
/** Levels that a path may have after the purpose and the coin type. */
export const pathIndexCountMax = 16
export const pathLengthMax = 200

export const transferIdLengthMax = 128
export const networkNameLengthMax = 63
export const bodyBytesMax = 64 * 1024
/** An authority in canonical form: 50 people with three keys each need about 60 KiB. */
export const authorityBytesMax = 96 * 1024
/** A body with an authority and its votes. The answer about two versions is smaller, and the caller reads as many bytes of it. */
export const authorityBodyBytesMax = 256 * 1024
/** The number of transfers in an answer about several. */
export const statesMax = 100

export const passphraseLengthMin = 12
export const clientTokenLengthMin = 24
export const webhookSecretBytesMin = 24

/** The longest pause of the sending loop. Orders, blocks and due transfers wake it earlier. */
export const sendPollMilliseconds = 5_000
/** Transfers that one pass of the sending loop claims. */
export const sendBatchMax = 200
/** A claimed transfer can be claimed again after this time, so that a crashed process delays it no longer. */
export const sendLeaseSeconds = 5
export const sendBackoffSecondsMax = 30
/** The time for which the gas of a transfer is used for other transfers of the token, if a simulation confirms it. */
export const tokenGasSeconds = 60
/** The time for which balances, nonces and fees that were read at a block are used for that block. */
export const marketSeconds = 10
/** Blocks that are read one after the other after a pause; when more were missed, the node is asked for the transfers. */
export const walkedBlocksMax = 1000
/** The number of these blocks that a pass reads. */
export const walkedAtOnceMax = 50
/** The lag in blocks up to which a node is waited for, before its chain counts as shorter. */
export const lagBlocksMax = 16
/** Blocks that are kept in memory with their movements. */
export const rememberedBlocksMax = 256
/** The default interval at which the node is asked about a waiting transaction. */
export const askAgainSecondsDefault = 600
/** Calls that one request to a node carries at most. */
export const nodeBatchMax = 100

/** Changes that one answer lists. */
export const changesMax = 1000
/** Accepted orders, addresses and events that one answer lists. */
export const acceptedMax = 1000
/** Events that one request sends again. */
export const replayedMax = 500
/** The longest time for which a request for changes waits. */
export const changeWaitSecondsMax = 25
/** Waiting requests for changes of a client at the same time; a further request is answered at once. */
export const heldQuestionsMax = 8
/** The interval at which a waiting request looks for changes whose notification did not arrive. */
export const changeLookMilliseconds = 5_000
export const changeReconnectMilliseconds = 1_000

/** A transaction whose fee is this many times what the highest level costs now is not replaced by one with a higher fee. */
export const pointlessFeeFactor = 5n
/**
 * In a protected client, an order without `maxFee` pays at most this many times what the highest level cost when it was
 * signed first: room for a network that gets dearer, and a limit for an attacker who has only the secret.
 */
export const unsignedFeeFactor = 2n
/** Outputs that the answer about a transaction lists. The caller reads at most 64 KiB, which are about 390 outputs. */
export const spentOutputsMax = 380
/** Outputs that lead from a transfer to the transaction that took its place. Nodes refuse more than 25 unmined transactions in a row. */
export const rivalOutputsMax = 100
/** Transactions that one transfer may have; each replacement is one more. */
export const variantsMax = 50

/** Blocks that one pass of the watcher reads at most. */
export const scanBlocksMax = 100
/** Blocks to read again after the chain was rewound or reorganised, and at the first start; event keys prevent duplicates. */
export const rescanBlocks = 1000
/** Requests that one pass has open at the node at the same time. */
export const nodeRequestsMax = 10
/** The default depth below the newest block to which a deposit is compared with the chain. */
export const watchDepthDefault = 1000
export const watchDepthMax = 100_000
/** Deposits that one pass looks up at the node after the chain went back. */
export const doubtfulBatchMax = 200
export const nodeTimeoutMilliseconds = 10_000
/** Tokens with more decimals are not reported: no ledger that reads the protocol accepts them. */
export const tokenDecimalsMax = 36

/** The interval at which the service looks for waiting versions of authorities that have come into force. */
export const authorityPollMilliseconds = 10_000

/** The interval at which the service looks for due mails about versions of authorities. */
export const mailPollMilliseconds = 5_000
export const mailBackoffMillisecondsMax = 300_000

export const webhookBatchMax = 20
export const webhookLeaseSeconds = 30
export const webhookTimeoutMilliseconds = 10_000
export const webhookBackoffSecondsMax = 300
/** The longest pause of the deliveries. New deposits and failed deliveries wake them earlier. */
export const webhookPollMilliseconds = 5_000

/** The time limit of PostgreSQL for a statement, and the further time for which its answer is awaited. */
export const databaseStatementMilliseconds = 30_000
export const databasePatienceMilliseconds = 10_000

/** Private keys of paths that the key store keeps in memory. */
export const accountsKeptMax = 1_000
