/** The time that Strongroom waits for an answer, and that a wallet service may take. */
export const answerMillisecondsMax = 10_000
/** The kit waits longer, so that it can say how long a slow answer took. */
export const patienceMilliseconds = 15_000
/** The part of an answer that the kit keeps. Strongroom reads less, which a check says. */
export const bytesReadMax = 4_194_304
/** The sizes that Strongroom reads: of an answer, of an answer about an authority, and of an answer about changes. */
export const answerBytesMax = 65_536
export const authorityBytesMax = 262_144
export const changesBytesMax = 2_097_152
/** The part of a body that is shown with a failure. */
export const shownCharactersMax = 2_000
/** The pause between two questions about a transfer or a balance. */
export const pollMilliseconds = 200
/** The time for which an impossible order is watched. It must move nothing, whether it fails or stays queued. */
export const impossibleWatchSeconds = 3
/** The time for which the kit looks for a second transaction or delivery that must not come. */
export const quietSeconds = 3
/** The time for which a webhook is left without an answer. A sender with a shorter time-out gives up earlier. */
export const silenceSeconds = 30
/** The time limit of a command such as `--restart-command`, and of the service until it answers again. */
export const stepMillisecondsMax = 600_000
/** The most orders that the check of long lists places, and the number placed at the same time. */
export const manyOrdersMax = 1_000_000
export const ordersAtOnce = 32
/** The largest error of the time of a webhook. Strongroom refuses more. */
export const webhookToleranceSeconds = 300
/** Deliveries of one event must be at least this far apart. */
export const deliveryGapMillisecondsMin = 500
/** More than any address can hold, so that an order for it can never move anything. */
export const unaffordable = 2n ** 200n
/** Smallest units that a transfer of --spend moves: more than the dust of every network. */
export const spentAmount = 10_000n
/** Transfers that --spend makes at most, and how far the fee may rise above the estimate meanwhile. */
export const spentTransfersMax = 30
export const feeReserveFactor = 4n
