import { setTimeout as sleep } from 'node:timers/promises'
import type { Machine } from './machine.ts'
import type { Stage } from './stage.ts'

/** Something is done to the cluster while clients order and vote. It ends when everything runs again that it has ended. */
export type Fault = {
  name: string
  strike(stage: Stage): Promise<void>
  /** Some answers take longer than five seconds, because of the reason. */
  slow?: string
  /** Machines with disks of their own, which not every user may make. */
  needsDisks?: true
}

/** Until a standby has the place of a leader whose lease has ended. */
const promotionMillisecondsMax = 60_000

async function waitForSuccessor(stage: Stage, former: Machine): Promise<Machine> {
  const deadline = Date.now() + promotionMillisecondsMax
  for (;;) {
    const leader = await stage.cluster.findLeader()
    if (leader !== null && leader !== former) {
      stage.noteSuccessor()
      return leader
    }
    if (Date.now() > deadline) throw new Error(`Nobody takes the place of ${former.name}`)
    await sleep(100)
  }
}

/** The processes of the leader that send to standbys stand still, so that nothing more is confirmed. */
async function cutSenders(stage: Stage): Promise<() => void> {
  const rows = await stage.books.sql('select pid from pg_stat_replication')
  for (const { pid } of rows) process.kill(pid, 'SIGSTOP')
  return () => {
    for (const { pid } of rows) {
      try {
        process.kill(pid, 'SIGCONT')
      } catch {
        // The leader was killed.
      }
    }
  }
}

const leaderKilled: Fault = {
  name: 'leader killed',
  async strike(stage) {
    const leader = await stage.cluster.waitForLeader()
    await Promise.all([leader.kill(), leader.killEtcd()])
    await waitForSuccessor(stage, leader)
    leader.startEtcd()
    leader.startPatroni()
  },
}

export const pausedAndWokenAfter: Fault = {
  name: 'leader paused, woken after the promotion',
  async strike(stage) {
    const leader = await stage.cluster.waitForLeader()
    const wake = leader.freeze()
    await waitForSuccessor(stage, leader)
    // The successor acknowledges changes, which a leader that wakes must not undo.
    await sleep(6_000)
    wake()
    await sleep(10_000)
  },
}

const pausedAndWokenBefore: Fault = {
  name: 'leader paused, woken before the promotion',
  async strike(stage) {
    const wake = (await stage.cluster.waitForLeader()).freeze()
    await sleep(8_000)
    wake()
  },
}

export const cutAndKilled: Fault = {
  name: 'replication cut, leader killed',
  async strike(stage) {
    const leader = await stage.cluster.waitForLeader()
    const join = await cutSenders(stage)
    await sleep(1_500)
    await leader.kill()
    join()
    await waitForSuccessor(stage, leader)
    leader.startPatroni()
  },
}

/** Waits for a standby are cancelled, as a proxy or an operator may; then what only the leader has is lost. */
export const commitsCancelled: Fault = {
  name: 'commits cancelled, leader killed',
  async strike(stage) {
    const leader = await stage.cluster.waitForLeader()
    const join = await cutSenders(stage)
    for (let i = 0; i < 20; i += 1) {
      await stage.books.sql(`select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'`)
      await sleep(50)
    }
    await leader.kill()
    join()
    await waitForSuccessor(stage, leader)
    leader.startPatroni()
  },
}

const etcdLost = (isFailsafe: boolean): Fault => ({
  name: `etcd lost, ${isFailsafe ? 'with' : 'without'} failsafe_mode`,
  async strike({ cluster }) {
    if (!isFailsafe) await cluster.configure({ failsafe_mode: false })
    await Promise.all(cluster.machines.map((machine) => machine.killEtcd()))
    await sleep(25_000)
    for (const machine of cluster.machines) machine.startEtcd()
    await cluster.waitForLeader()
    if (!isFailsafe) await cluster.configure({ failsafe_mode: true })
  },
})

const proxyRestarted: Fault = {
  name: 'proxy restarted',
  async strike({ cluster }) {
    await cluster.killProxy()
    await sleep(1_000)
    cluster.startProxy()
  },
}

const switchover: Fault = {
  name: 'switchover',
  async strike(stage) {
    const leader = await stage.cluster.waitForLeader()
    const deadline = Date.now() + promotionMillisecondsMax
    for (;;) {
      const answer = await leader.ask('/switchover', { method: 'POST', body: JSON.stringify({ leader: leader.name }) })
      if (answer?.status === 200) return
      // 412 and 503: the synchronous standby is not known yet.
      if (Date.now() > deadline) throw new Error(`No switchover: ${JSON.stringify(answer)}`)
      await sleep(500)
    }
  },
}

const diskFull: Fault = {
  name: "leader's disk full for 15 s",
  needsDisks: true,
  async strike(stage) {
    const leader = await stage.cluster.waitForLeader()
    const free = leader.fillDisk!()
    await sleep(15_000)
    free()
  },
}

const noStandby: Fault = {
  name: 'no standby',
  async strike(stage) {
    const leader = await stage.cluster.waitForLeader()
    const standbys = stage.cluster.machines.filter((machine) => machine !== leader)
    await Promise.all(standbys.map((machine) => machine.kill()))
    await sleep(12_000)
    for (const machine of standbys) machine.startPatroni()
  },
}

const nodeKilled: Fault = {
  name: 'node killed',
  async strike({ nodes: [node] }) {
    await node.kill()
    await sleep(1_000)
    await node.start()
  },
}

/** A migration of the next version, beside which a node of this one goes on and another one starts. */
const schemaOfNext: Fault = {
  name: 'schema of the next version, node started again',
  async strike({ migrateFurther, nodes: [node] }) {
    await migrateFurther()
    await node.kill()
    await sleep(500)
    await node.start()
  },
}

const nodePaused: Fault = {
  name: 'node paused',
  slow: 'a request at a node that stands still waits for it',
  async strike({ nodes: [, node] }) {
    const wake = node.freeze()
    await sleep(8_000)
    wake()
  },
}

const walletKilled: Fault = {
  name: 'wallet killed',
  async strike({ wallet }) {
    await wallet.kill()
    await sleep(1_000)
    await wallet.start()
  },
}

const walletPaused: Fault = {
  name: 'wallet paused',
  async strike({ wallet }) {
    const wake = wallet.freeze()
    await sleep(8_000)
    wake()
  },
}

/** In the order of a campaign, which begins again after the last. */
export const faults: Fault[] = [
  ...[leaderKilled, pausedAndWokenAfter, cutAndKilled, switchover, nodeKilled, commitsCancelled],
  ...[pausedAndWokenBefore, noStandby, walletKilled, etcdLost(true), proxyRestarted, nodePaused],
  ...[etcdLost(false), walletPaused, schemaOfNext, diskFull],
]
