// Services whose types, families and fields their tenant changes at random, and somebody in super those of their copies, on real control
// planes: in super they are what the tenant has.

import { test } from "vitest"
import { createRandom, seeds } from "../apimachinery/testing/random.ts"
import { DualStackAddresses } from "../test/kubernetes/controllers/dual-stack-addresses.ts"
import { changeServices } from "./testing/random-services.ts"
import { startServiceWorld } from "./testing/service-world.ts"

test.each([
  ...seeds(2).map((seed) => ["one family", seed] as const),
  ...seeds(2).map((seed) => ["two families", seed] as const),
])(
  "services with addresses of %s that are changed at random are the same in super (SEED=%i)",
  { timeout: 120_000 },
  async (families, seed) => {
    const isDual = families === "two families"
    await using stack = new AsyncDisposableStack()
    const world = await startServiceWorld(stack, isDual ? { addresses: new DualStackAddresses() } : {})
    const syncer = stack.use(await world.startSyncer())
    await changeServices(world, syncer, createRandom(seed), isDual)
  },
)
