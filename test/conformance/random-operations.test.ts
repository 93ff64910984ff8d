// SEED=<seed> repeats a run.

import { expect, test } from "vitest"
import { seeds } from "../../apimachinery/testing/random.ts"
import { startTestGateway } from "../../gateway/testing/start-gateway.ts"
import { TenantConnection } from "./random-operations/connection.ts"
import { History, revisionOf } from "./random-operations/history.ts"
import { keptRevisions, RandomRun } from "./random-operations/run.ts"

const steps = 60

test.each(seeds(1))(
  "what clients are told of a tenant that falls asleep again and again is one history (SEED=%i)",
  async (seed) => {
    const storeLimits = { historyRevisions: keptRevisions, compactionStep: 3, backlogChanges: 5 }
    await using fixture = await startTestGateway({ limits: { tenantIdleMs: 20 }, storeLimits, superCluster: false })
    using client = new TenantConnection(fixture, await fixture.createTenant("a", { controllers: false }))
    const { tenants } = fixture.gateway
    const asleep = (): Promise<unknown> => expect.poll(() => tenants.awake).toBe(0)
    const all = await client.watch("/api/v1/namespaces/default/configmaps?watch=true")
    const run = new RandomRun(seed, client, async () => void (await asleep()))
    const head = await run.steps(steps)
    await expect.poll(() => revisionOf(all.events.at(-1)!.object)).toBe(head)
    const history = new History(all.events)
    history.checkPossible()
    await expect.poll(() => run.haveCome(history)).toBe(true)
    run.check(history, head)
  },
)
