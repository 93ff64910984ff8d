// Imported by long-running processes. V8 collects garbage when memory is allocated, so an idle process keeps what thousands of
// tenants left behind when they fell asleep. V8's memory reducer would collect it, but considers a process busy that allocates
// nothing at all (measured: it never ran in an idle process; with this module, 250 MiB became 190 within 16 s). It runs in any
// case while V8 is set to optimize for size, which also limits the growth of the heap before a collection.

import { performance, PerformanceObserver } from "node:perf_hooks"
import { setFlagsFromString } from "node:v8"

const everyMs = 5_000
/**
 * Utilization of the event loop below which collections disturb nobody: they compact the heap, which takes 60 ms with 50 tenants
 * and half a second with 500 active ones (measured: p99 of events 480 ms instead of 64 with 0.75).
 */
const restingShare = 0.1
/**
 * When optimizing for size, V8 collects after a tenth of growth: when 200 sleeping tenants woke one after the other, three waited
 * for a collection, and short bursts of requests took up to twice the processor time. So the end of rest must be detected soon.
 */
const restingEveryMs = 100
/**
 * Growth of the heap in percent before a collection, unless the process is busy. V8's own choice is 10 after it has reduced the heap,
 * which a burst of requests uses up at once: with 2,500 sleeping tenants a collection began after the first 50 had woken, and took both
 * processors for 0.2 s. 0: V8 chooses.
 */
const restingGrowth = 50
/**
 * Utilization above which V8 chooses. Collecting the heap of thousands of tenants is activity, too, and the limit is computed when it
 * ends; later V8 only lowers the limit.
 */
const busyShare = 0.5

let isResting = false
let growth = 0
let last = performance.eventLoopUtilization()

/** Milliseconds of collections since the last check: they must not count as activity that ends the rest. */
let collecting = 0
const collections = new PerformanceObserver((list) => count(list.getEntries()))

/** @param {readonly { duration: number }[]} entries */
function count(entries) {
  for (const { duration } of entries) collecting += duration
}

function check() {
  const now = performance.eventLoopUtilization()
  const { active, idle } = performance.eventLoopUtilization(now, last)
  last = now
  count(collections.takeRecords())
  const isIdle = active - collecting < restingShare * (active + idle)
  collecting = 0
  if (isIdle !== isResting) {
    setFlagsFromString(isIdle ? "--optimize-for-size" : "--no-optimize-for-size")
    // Only while resting, because otherwise there are too many notifications.
    if (isIdle) collections.observe({ entryTypes: ["gc"] })
    else collections.disconnect()
  }
  const isBusy = !isResting && active >= busyShare * (active + idle)
  const nextGrowth = isBusy ? 0 : restingGrowth
  if (nextGrowth !== growth) setFlagsFromString(`--heap-growing-percent=${(growth = nextGrowth)}`)
  isResting = isIdle
  setTimeout(check, isResting ? restingEveryMs : everyMs).unref()
}

setTimeout(check, everyMs).unref()
