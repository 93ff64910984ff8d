// Imported by processes that serve for long. V8 collects garbage when memory is asked for, so that a process with nothing to do
// keeps what thousands of tenants left when they fell asleep. Its memory reducer would see to that, but takes a process for
// busy that allocates nothing at all (measured: never once in an idle process; with this, 250 MiB became 190 within 16 s).
// It goes ahead in any case while V8 is told to favour memory, which also bounds how far the heap grows before it is collected.

import { performance, PerformanceObserver } from "node:perf_hooks"
import { setFlagsFromString } from "node:v8"

const everyMs = 5_000
/**
 * Share of the time in which the event loop had something to do. Only below it collections are in nobody's way: they compact,
 * which takes 60 ms with 50 tenants and half a second with 500 in use (measured: p99 of events 480 ms instead of 64 with 0.75).
 */
const restingShare = 0.1
/**
 * Who favours memory collects after a tenth of growth: of 200 sleeping tenants that woke one after the other three waited for a
 * collection, and short bursts of requests took up to twice the processor time. So the end of rest is seen soon.
 */
const restingEveryMs = 100

let isResting = false
let last = performance.eventLoopUtilization()

/** Milliseconds of collections since the last look at them: they are no work that ends a rest, but what it is for. */
let collecting = 0
const collections = new PerformanceObserver((list) => count(list.getEntries()))

/** @param {readonly { duration: number }[]} entries */
function count(entries) {
  for (const { duration } of entries) collecting += duration
}

function look() {
  const now = performance.eventLoopUtilization()
  const { active, idle } = performance.eventLoopUtilization(now, last)
  last = now
  count(collections.takeRecords())
  const rests = active - collecting < restingShare * (active + idle)
  collecting = 0
  if (rests !== isResting) {
    setFlagsFromString(rests ? "--optimize-for-size" : "--no-optimize-for-size")
    // Otherwise there are too many to be told of each.
    if (rests) collections.observe({ entryTypes: ["gc"] })
    else collections.disconnect()
  }
  isResting = rests
  setTimeout(look, isResting ? restingEveryMs : everyMs).unref()
}

setTimeout(look, everyMs).unref()
