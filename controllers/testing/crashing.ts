// Processes of controllers that are killed between arbitrary writes and started again.

import type { Random } from "../../apimachinery/testing/random.ts"
import type { KubeClient } from "../../client/rest.ts"
import type { FakeCluster } from "../../client/testing/fake-cluster.ts"

/** Maximum number of writes of a process before it is killed, and the number of such processes. */
const mostWrites = 12
const lives = 25
/** A process may have nothing to do until the nodes change something. */
const turns = 40

interface CrashingLives {
  cluster: FakeCluster
  random: Random
  start: (client: KubeClient) => AsyncDisposable
  /** What nodes do, again and again. */
  playNodes: (cluster: FakeCluster) => Promise<void>
  /** What users do after a third of the lives. */
  change: (cluster: FakeCluster) => Promise<void>
}

/** After these lives, the controllers have still something to do. */
export async function liveAndCrash({ cluster, random, start, playNodes, change }: CrashingLives): Promise<void> {
  for (let life = 0; life < lives; life++) {
    if (life === Math.floor(lives / 3)) await change(cluster)
    const crashing = new CrashingClient(cluster, 1 + random(mostWrites))
    await using _controllers = start(crashing.client)
    for (let turn = 0; turn < turns && !crashing.isDead; turn++) {
      await playNodes(cluster)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
}

/** A client whose process dies after a number of writes: no answer comes to the last one, and later ones fail. */
class CrashingClient {
  readonly client: KubeClient
  #left: number

  constructor(cluster: FakeCluster, writes: number) {
    this.#left = writes
    const write = async <T>(call: () => Promise<T>): Promise<T> => {
      if (!this.isDead) {
        this.#left--
        const answer = await call()
        if (!this.isDead) return answer
      }
      throw new Error("the process is dead")
    }
    this.client = {
      discover: () => cluster.discover(),
      unavailable: () => cluster.unavailable(),
      get: (...call) => cluster.get(...call),
      raw: (path) => cluster.raw(path),
      list: (...call) => cluster.list(...call),
      watch: (...call) => cluster.watch(...call),
      create: (...call) => write(() => cluster.create(...call)),
      update: (...call) => write(() => cluster.update(...call)),
      patch: (...call) => write(() => cluster.patch(...call)),
      delete: (...call) => write(() => cluster.delete(...call)),
      deleteCollection: (resource, namespace) => write(() => cluster.deleteCollection(resource, namespace)),
    }
  }

  get isDead(): boolean {
    return this.#left <= 0
  }
}
