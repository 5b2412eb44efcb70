import { Accepted, AcceptedQuery, EventReplay, ReplayedEvents } from './accepted/accepted-protocol.ts'
import { Stopped, Stops } from './authority/stop-protocol.ts'
import { AccountKey, AccountKeyQuery } from './keys/account-key.ts'
import {
  AddressOrder,
  AuthorityCancellation,
  AuthorityUpdate,
  Balance,
  BalanceQuery,
  DerivedAddress,
  ErrorBody,
  FeeEstimate,
  FeeQuestion,
  Health,
  PresentAuthority,
  Replacement,
  ReplacementQuote,
  TransactionParams,
  TransactionQuery,
  TransactionState,
  TransferOrder,
  TransferParams,
  TransferStatus,
} from './protocol.ts'
import { Changes, ChangesQuery } from './transfers/change-protocol.ts'
import { TransferStates, TransfersQuery } from './transfers/states-protocol.ts'

const common = { 400: ErrorBody, 401: ErrorBody, 500: ErrorBody, 503: ErrorBody }

/** The operations of the protocol: the routes and the OpenAPI document are both made from this list. */
export const operations = {
  getHealth: {
    method: 'get',
    path: '/healthz',
    summary: 'Health of the service, and the last block that it has read of each chain. Needs no token.',
    schema: { response: { 200: Health, 503: ErrorBody } },
  },
  deriveAddress: {
    method: 'post',
    path: '/addresses',
    summary: 'Derives the address of a path and starts to watch it. Idempotent by path.',
    schema: { body: AddressOrder, response: { 200: DerivedAddress, ...common } },
  },
  getAccountKey: {
    method: 'get',
    path: '/xpub',
    summary:
      'The public key of an account, signed: the caller derives the addresses below it for itself. Optional for a wallet service.',
    schema: { querystring: AccountKeyQuery, response: { 200: AccountKey, 404: ErrorBody, ...common } },
  },
  orderTransfer: {
    method: 'post',
    path: '/transfers',
    summary: 'Orders a transfer. Idempotent by id; the same id with other fields is a 409.',
    schema: { body: TransferOrder, response: { 202: TransferStatus, 403: ErrorBody, 409: ErrorBody, ...common } },
  },
  listTransfers: {
    method: 'get',
    path: '/transfers',
    summary:
      'States of several ordered transfers. A transfer that was never accepted is left out. Optional for a wallet service.',
    schema: { querystring: TransfersQuery, response: { 200: TransferStates, ...common } },
  },
  listChanges: {
    method: 'get',
    path: '/transfers/changes',
    summary:
      'Lists the transfers whose state changed after a cursor. With `wait`, it waits for the first change. 410: begin again without a ' +
      'cursor. Optional for a wallet service.',
    schema: { querystring: ChangesQuery, response: { 200: Changes, 410: ErrorBody, ...common } },
  },
  listAccepted: {
    method: 'get',
    path: '/accepted',
    summary:
      'Lists the transfers, addresses and delivered events of the client, in the order in which they were accepted. 410: entries up to ' +
      'the cursor were lost. Optional for a wallet service.',
    schema: { querystring: AcceptedQuery, response: { 200: Accepted, 410: ErrorBody, ...common } },
  },
  replayEvents: {
    method: 'post',
    path: '/events/replay',
    summary: 'Sends events again that were delivered before, under the same ids. Optional for a wallet service.',
    schema: { body: EventReplay, response: { 202: ReplayedEvents, ...common } },
  },
  getTransfer: {
    method: 'get',
    path: '/transfers/:id',
    summary: 'State of an ordered transfer. 404 means that the order was never accepted.',
    schema: { params: TransferParams, response: { 200: TransferStatus, 404: ErrorBody, ...common } },
  },
  quoteReplacement: {
    method: 'get',
    path: '/transfers/:id/replacement',
    summary: 'Present cost of replacing the transaction of a transfer; changes nothing.',
    schema: { params: TransferParams, response: { 200: ReplacementQuote, 404: ErrorBody, ...common } },
  },
  speedUp: {
    method: 'post',
    path: '/transfers/:id/speed-up',
    summary: 'Replaces the transaction of a transfer by the same payment with a higher fee and the same nonce.',
    schema: {
      params: TransferParams,
      body: Replacement,
      response: { 202: TransferStatus, 404: ErrorBody, 409: ErrorBody, ...common },
    },
  },
  cancelOnChain: {
    method: 'post',
    path: '/transfers/:id/cancel-on-chain',
    summary: 'Replaces the transaction of a transfer by a transaction with the same nonce that moves nothing.',
    schema: {
      params: TransferParams,
      body: Replacement,
      response: { 202: TransferStatus, 404: ErrorBody, 409: ErrorBody, ...common },
    },
  },
  getTransaction: {
    method: 'get',
    path: '/transactions/:hash',
    summary:
      'A transaction as the chain has it at this moment. 404: the chain does not know it. Optional for a wallet service.',
    schema: {
      params: TransactionParams,
      querystring: TransactionQuery,
      response: { 200: TransactionState, 404: ErrorBody, ...common },
    },
  },
  getAuthority: {
    method: 'get',
    path: '/authority',
    summary: 'The authority of a protected vault, which names its signers. 404: the vault is not protected.',
    schema: { response: { 200: PresentAuthority, 404: ErrorBody, ...common } },
  },
  updateAuthority: {
    method: 'post',
    path: '/authority',
    summary:
      'Takes the next version of the authority, signed as the version before requires. It comes into force after the delay of the ' +
      'version before. A repetition of the present or the waiting version changes nothing. 409: another version waits.',
    schema: {
      body: AuthorityUpdate,
      response: { 200: PresentAuthority, 403: ErrorBody, 404: ErrorBody, 409: ErrorBody, ...common },
    },
  },
  cancelAuthority: {
    method: 'post',
    path: '/authority/cancel',
    summary:
      'Cancels the waiting version. The rejections of one person fewer than must sign a version are needed. A repetition changes ' +
      'nothing. 404: no version waits.',
    schema: {
      body: AuthorityCancellation,
      response: { 200: PresentAuthority, 403: ErrorBody, 404: ErrorBody, ...common },
    },
  },
  stopOrders: {
    method: 'post',
    path: '/stops',
    summary:
      'Stops orders and payouts for good, by a signed rejection or cancellation of a person of the authority. A repetition changes ' +
      'nothing.',
    schema: { body: Stops, response: { 200: Stopped, 403: ErrorBody, 404: ErrorBody, ...common } },
  },
  getBalance: {
    method: 'get',
    path: '/balances',
    summary: 'Balance of an address of the client on the chain.',
    schema: { querystring: BalanceQuery, response: { 200: Balance, 404: ErrorBody, 409: ErrorBody, ...common } },
  },
  estimateFee: {
    method: 'post',
    path: '/fees',
    summary: 'Estimates the fee of a transfer from an address of the client; changes nothing.',
    schema: { body: FeeQuestion, response: { 200: FeeEstimate, 404: ErrorBody, ...common } },
  },
} as const
