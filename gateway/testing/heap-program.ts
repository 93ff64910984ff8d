// A gateway with one tenant in a separate process, as the product runs it. It sends its parent the address and, on request,
// statistics of the heap.

import "../../cli/runtime/runtime.mjs"
import { constants, type NodeGCPerformanceDetail, PerformanceObserver } from "node:perf_hooks"
import { getHeapSpaceStatistics } from "node:v8"
import { startTestGateway } from "./start-gateway.ts"

export interface Place {
  url: string
  certificate: string
  key: string
  certificateAuthority: string
}

export interface Heap {
  /** Size in bytes of the old generation, including dead objects that have not been collected yet. */
  old: number
  /** Number of full collections so far; each may decrease `old`. */
  collections: number
}

const oldSpaces: readonly string[] = ["old_space", "large_object_space"]
let collections = 0
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) {
    const { kind } = (entry as unknown as { detail: NodeGCPerformanceDetail }).detail
    if (kind === constants.NODE_PERFORMANCE_GC_MAJOR) collections++
  }
}).observe({ entryTypes: ["gc"] })

function heap(): Heap {
  const spaces = getHeapSpaceStatistics().filter(({ space_name }) => oldSpaces.includes(space_name))
  return { old: spaces.reduce((sum, { space_used_size }) => sum + space_used_size, 0), collections }
}

const gateway = await startTestGateway({ superCluster: false })
const { url, certificate = "", key = "" } = await gateway.createTenant("measured", { controllers: false })
const { certificateAuthority } = gateway.gateway
process.on("message", () => void process.send?.(heap()))
process.once("disconnect", () => void gateway[Symbol.asyncDispose]())
process.send?.({ url, certificate, key, certificateAuthority } satisfies Place)
