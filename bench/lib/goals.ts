/**
 * Every goal of the bench: the program that measures it, its name in the table of docs/performance.md, and its bound. A
 * program refers to a goal by its key, and may measure it several times; the worst value counts.
 */
export const goals = {
  deposits: atLeast(5_000, 'load', 'deposits per second, 256 connections, HTTP to durable commit'),
  depositsOf32: atLeast(0.7, 'load', 'the same, of the same batches without HTTP, 32 connections'),
  depositsOf256: atLeast(0.7, 'load', 'the same, of the same batches without HTTP, 256 connections'),
  vaultOf64: atLeast(0.95, 'load', 'one vault, of 64 vaults'),
  hotAddress: atLeast(0.9, 'load', 'one hot address, of 10,000'),
  badInput: atLeast(0.9, 'load', 'answers with one bad event in ten, of those without'),
  plainOrders: atLeast(0.6, 'load', 'orders without votes, of a bare posting'),
  votedOrders: atLeast(0.5, 'load', 'orders with three layers of policy and votes, of a bare posting'),
  signedVote: atMost(1.3, 'load', 'time of a vote with an assertion, of one without'),
  treasurerP99: atMost(60, 'load', '50 orders a second of one treasurer, velocity limit: p99 in ms'),
  orderP99: atMost(25, 'load', '100 orders a second: p99 in ms'),
  voteToBroadcast: atMost(300, 'load', 'last vote to broadcast: p95 in ms'),
  ledgerBytes: atMost(743, 'load', 'bytes in the ledger’s tables per settled transfer'),
  settledLog: atMost(16_000, 'load', 'bytes of PostgreSQL’s log per settled transfer'),
  heapOnlyBalances: atLeast(0.99, 'load', 'heap-only updates of balances'),
  overload: atLeast(0.8, 'load', 'served under 5 times the peak, of the peak'),
  statement: atMost(1.1, 'load', 'statement page and past balance, 10,000,000 postings of 1,000, in buffers'),
  fullHouseP99: atMost(
    25,
    'load --only rates --operations 10000000',
    '100 orders a second, 10,000,000 operations: p99 in ms',
  ),
  flightVote: atMost(0.15, 'in-flight', 'order to the wallet service, 10,000 in flight: p95 in s'),
  flightBroadcast: atMost(0.5, 'in-flight', 'order to broadcast, 10,000 in flight: p95 in s'),
  flightOfNone: atMost(1.2, 'in-flight', 'order to broadcast with 10,000 in flight, of the time with none'),
  flightKnown: atMost(15, 'in-flight', '10,000 confirmed by blocks of 30 million gas: known at the last, in s'),
  flightCpu: atMost(3, 'in-flight', 'CPU while the chain stands still, above idle, in % of a core'),
  idleCpu: atMost(1.5, 'in-flight', 'CPU of node and wallet with nothing in flight, in % of a core'),
  idleStatements: atMost(5, 'in-flight', 'transactions of PostgreSQL with nothing in flight, per second'),
  payout: atMost(20, 'in-flight', 'payout of 1,000 rows of one address: all broadcast after, in s'),
  callsEach: atMost(3, 'in-flight', 'calls to the chain’s node per transfer'),
  flightLog: atMost(16_000, 'in-flight', 'bytes of PostgreSQL’s log per settled transfer, with those of the wallet'),
  flightCalls: atMost(3, 'in-flight', 'calls to the chain’s node per block'),
  policies: atMost(5, 'policies', '1,000 candidate policies: ms of CPU'),
  signedOrder: atMost(3, 'signed-orders', 'a signed order with five votes, at the wallet service: ms of CPU'),
  backtest: atMost(30, 'backtest', 'backtest of 100,000 decisions by 20 policies, all of which change, in s'),
  plan: atMost(2, 'backtest', 'plan of 1,000 policies and 100 groups, all of which change, in s'),
  memberHistory: atMost(1.2, 'visibility', 'a member’s first page of history, of an administrator’s'),
  sharedHistory: atMost(3, 'visibility', 'the same with 1,000 addresses shared'),
  visibilityGrowth: atMost(1.3, 'visibility', 'its buffers at ten times the rows'),
  // A window of 10,000 rows, or five lookups for each of 1,000 addresses, with a lookup in another table for each row.
  historyPage: atMost(50_000, 'history', 'history by any filters: buffers of the dearest page'),
  historyScans: atMost(0, 'history', 'history by any filters: pages that read a table from end to end'),
  historyDepth: atMost(1.1, 'history', 'history, page 10,000 of page 1, in buffers'),
  historyGrowth: atMost(1.3, 'history', 'history at ten times the operations, the worst filter, in buffers'),
  report: atMost(2, 'reports', 'report over 1,000,000 operations, of one hand-written statement'),
  smallReport: atMost(50, 'reports', 'report over 1,000 operations: p95 in ms'),
  reportHeap: atMost(32, 'reports', 'heap of a large report above that of a small one, in MB'),
  exceptions: atMost(2, 'reports', '`operations_exceptions`: the dearest variation, in buffers, of no filter'),
  fairness: atMost(3, 'fairness', 'balances of a member while another one keeps 150 reports under way, of without'),
  totals: atMost(10, 'balances', 'balances in total at 1,000,000 accounts: median in ms'),
  exportMemory: atMost(300, 'exports', 'statement of 1,000,000 rows as CSV, XLSX, PDF: resident MB'),
} as const satisfies Record<string, Goal>

export type GoalKey = keyof typeof goals
export type Goal = { bound: 'at least' | 'at most'; goal: number; program: string; name: string }

function atLeast(goal: number, program: string, name: string): Goal {
  return { bound: 'at least', goal, program, name }
}

function atMost(goal: number, program: string, name: string): Goal {
  return { bound: 'at most', goal, program, name }
}

export const isMet = ({ bound, goal }: Goal, value: number) => (bound === 'at least' ? value >= goal : value <= goal)

export const isWorse = ({ bound }: Goal, value: number, than: number) =>
  bound === 'at least' ? value < than : value > than
