// Tenants that come, go, sleep and work at random, kubelets, nodes that come and go, and administrators who delete copies, while calls of the
// syncer to both sides fail, it hears late of what happens, and another one that has lost its Lease goes on for a while. When that ends, both
// sides agree; and meanwhile nothing that happens in super costs a tenant anything.

import { expect, test } from "vitest"
import { pick, seeds } from "../apimachinery/testing/random.ts"
import { RandomWorld } from "./testing/random-world.ts"

test.each(seeds(Number(process.env["ROUNDS"] ?? 10)))(
  "both sides agree once the faults end (seed %i)",
  async (seed) => {
    await using world = new RandomWorld(seed)
    await world.start()
    for (let step = 0; step < 300; step++) {
      if (step % 50 === 0) world.faults.probability = pick(world.random, [0, 0.05, 0.2, 0.5])
      await world.step()
    }
    expect(await world.left()).toEqual([])
    expect(world.wrong).toEqual([])
  },
)
