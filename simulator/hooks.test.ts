import { describe, expect, test } from "vitest"
import { pods } from "../client/resources.ts"
import { eventually } from "../test/harness/eventually.ts"
import {
  cluster,
  container,
  exec,
  find,
  hasEvent,
  isGone,
  isReady,
  namespace,
  podOf,
  ready,
  run,
  running,
  useSimulation,
} from "./testing/simulation.ts"

useSimulation()

describe("a pod runs hooks", () => {
  const hook = (...command: string[]) => ({ exec: { command } })

  test("after the start, and is ready only then", async () => {
    const lifecycle = { postStart: hook("sh", "-c", "until test -e /go; do sleep 1; done; echo hi > /hooked") }
    await cluster.create(pods, podOf("hooked", { containers: [container(["sleep", "3600"], { lifecycle })] }))
    const pod = await eventually(() => find("hooked")?.status?.containerStatuses && find("hooked"), {
      what: "reported",
    })
    expect(pod.status).toMatchObject({
      phase: "Pending",
      containerStatuses: [{ ready: false, state: { waiting: { reason: "ContainerCreating" } } }],
    })
    await exec(pod, "touch", "/go")
    expect(await exec(await ready("hooked"), "cat", "/hooked")).toBe("hi\n")
  })

  test.each(["Never", "Always"])("whose failure ends the container, restarted: %s", async (restartPolicy) => {
    const lifecycle = { postStart: hook("sh", "-c", "echo why; exit 3") }
    const containers = [container(["sleep", "3600"], { lifecycle })]
    const name = `failing-${restartPolicy.toLowerCase()}`
    await cluster.create(pods, podOf(name, { restartPolicy, containers }))
    const state = () => find(name)?.status?.containerStatuses?.[0]?.state
    const isOver = () => restartPolicy === "Always" || find(name)?.status?.phase === "Failed"
    const expected = restartPolicy === "Always" ? "CrashLoopBackOff" : "Error"
    await eventually(() => (state()?.waiting ?? state()?.terminated)?.reason === expected && isOver(), {
      what: expected,
    })
    await hasEvent(name, "FailedPostStartHook")
  })

  test.each([3600, 100_000_000])(
    "before the end, within the grace period of %i seconds",
    async (gracePeriodSeconds) => {
      const lifecycle = { preStop: hook("sh", "-c", "until test -e /go; do sleep 1; done; exit 1") }
      const pod = await run("leaving", { containers: [container(["sleep", "3600"], { lifecycle })] })
      await cluster.delete(pods, namespace, "leaving", { gracePeriodSeconds })
      await hasEvent("leaving", "Killing")
      expect(isReady(find("leaving"))).toBe(true)
      await run("another", { containers: [container(["sleep", "3600"])] })
      expect(running(pod).exit).toBeUndefined()
      await exec(pod, "touch", "/go")
      await isGone("leaving")
      await hasEvent("leaving", "FailedPreStopHook")
    },
  )

  test("until the grace period is over, or shortened", async () => {
    const lifecycle = { preStop: { sleep: { seconds: 3600 } } }
    const spec = { containers: [container(["sleep", "3600"], { lifecycle })] }
    await run("hurried", spec)
    await run("timed", spec)
    await cluster.delete(pods, namespace, "hurried", { gracePeriodSeconds: 3600 })
    await hasEvent("hurried", "Killing")
    await cluster.delete(pods, namespace, "hurried", { gracePeriodSeconds: 0 })
    await cluster.delete(pods, namespace, "timed", { gracePeriodSeconds: 1 })
    await isGone("hurried")
    await isGone("timed")
  })
})
