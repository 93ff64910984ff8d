import { describe, expect, test } from "vitest"
import { FakeClock } from "../testing/fake-clock.ts"
import { FairQueue } from "../workqueue/fair-queue.ts"
import { ClientMetrics } from "./client-metrics.ts"
import { printQueues, QueueMetrics } from "./queue-metrics.ts"

const never = new AbortController().signal

describe("a workqueue", () => {
  const clock = new FakeClock()
  const metrics = new QueueMetrics("deployment", () => clock.now())
  const queue = new FairQueue<string>({ identify: (key) => key, group: (key) => key.slice(0, 1), clock, metrics })
  const samples = (): string[] =>
    printQueues([metrics])
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#") && !line.includes("_bucket"))

  test("counts depth, work in progress, durations and retries", async () => {
    queue.add("a1")
    queue.add("a1") // already queued
    queue.add("b1")
    clock.advance(3_000)
    expect(await queue.get(never)).toBe("a1")
    expect(await queue.get(never)).toBe("b1")
    clock.advance(1_000)
    for (const key of ["a1", "b1"]) queue.begin(key)
    clock.advance(2_000)
    queue.add("a1") // queued again when done
    queue.done("b1")
    queue.addAfter("b1", 500)
    expect(samples()).toEqual([
      'workqueue_adds_total{name="deployment"} 3',
      'workqueue_depth{name="deployment"} 1',
      'workqueue_retries_total{name="deployment"} 1',
      'workqueue_queue_duration_seconds_sum{name="deployment"} 8',
      'workqueue_queue_duration_seconds_count{name="deployment"} 2',
      'workqueue_work_duration_seconds_sum{name="deployment"} 2',
      'workqueue_work_duration_seconds_count{name="deployment"} 1',
      'workqueue_unfinished_work_seconds{name="deployment"} 2',
      'workqueue_longest_running_processor_seconds{name="deployment"} 2',
    ])
  })

  test("drops a removed group and a stopped queue", async () => {
    queue.add("c1")
    queue.removeGroup("c")
    queue.done("a1")
    expect(metrics.depth).toBe(1)
    expect(await queue.get(never)).toBe("a1")
    expect(metrics.depth).toBe(1)
    queue.begin("a1")
    queue.done("a1")
    queue.add("d1")
    queue[Symbol.dispose]()
    expect([metrics.depth, ...metrics.unfinishedSeconds]).toEqual([0])
  })
})

test("queues of the same name share one series", () => {
  const metrics = new ClientMetrics()
  metrics.queue("job").added("a")
  metrics.queue("job").added("b")
  expect(metrics.print()).toContain('workqueue_adds_total{name="job"} 2')
})
