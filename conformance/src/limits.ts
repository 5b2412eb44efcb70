/** What Strongroom waits for an answer, and so how long a wallet service may take. */
export const answerMillisecondsMax = 10_000
/** The kit waits longer, so that it can say how long a slow answer took. */
export const patienceMilliseconds = 15_000
/** What the kit keeps of an answer; Strongroom reads less, and a check says so. */
export const bytesReadMax = 4_194_304
/** What Strongroom reads of an answer, and of one about changes. */
export const answerBytesMax = 65_536
export const changesBytesMax = 2_097_152
/** How much of a body is shown with a failure. */
export const shownCharactersMax = 2_000
/** How often the state of a transfer or a balance is asked for. */
export const pollMilliseconds = 200
/** How long an impossible order is watched; it must not move anything, whether it fails or stays queued. */
export const impossibleWatchSeconds = 3
/** How long the kit looks for a second transaction or delivery that must not come. */
export const quietSeconds = 3
/** How long a webhook is left without an answer; a sender with a shorter time-out gives up before. */
export const silenceSeconds = 30
/** How long a command of the person who runs the kit may take, and the service until it answers again. */
export const stepMillisecondsMax = 600_000
/** Orders that the check of long lists places at most, and how many at the same time. */
export const manyOrdersMax = 1_000_000
export const ordersAtOnce = 32
/** How far the time of a webhook may be off; Strongroom refuses it beyond. */
export const webhookToleranceSeconds = 300
/** Deliveries of one event must be at least this far apart. */
export const deliveryGapMillisecondsMin = 500
/** More than any address can hold, so that an order for it can never move anything. */
export const unaffordable = 2n ** 200n
/** Smallest units that a transfer of --spend moves. */
export const spentAmount = 1_000n
/** Transfers that --spend makes at most, and how far the fee may rise above the estimate meanwhile. */
export const spentTransfersMax = 30
export const feeReserveFactor = 4n
