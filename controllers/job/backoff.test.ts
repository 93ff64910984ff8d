import { describe, expect, test } from "vitest"
import type { Pod } from "../../apimachinery/object.ts"
import { finishedAt } from "./backoff.ts"

const created = "2026-01-01T00:00:00Z"
const unready = "2026-01-01T00:00:10Z"
const ended = "2026-01-01T00:00:20Z"
const endedLater = "2026-01-01T00:00:30Z"

interface Ends {
  container: string | undefined
  sidecar: string | undefined
}

function pod({ container, sidecar }: Ends): Pod {
  const state = (finishedAt: string | undefined): object =>
    finishedAt === undefined ? { running: {} } : { terminated: { exitCode: 1, finishedAt } }
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p", creationTimestamp: created },
    spec: { containers: [{ name: "c" }], initContainers: [{ name: "side", restartPolicy: "Always" }] },
    status: {
      phase: "Failed",
      conditions: [{ type: "Ready", status: "False", lastTransitionTime: unready }],
      containerStatuses: [{ name: "c", state: state(container) }],
      initContainerStatuses: [{ name: "side", state: state(sidecar) }],
    },
  } as unknown as Pod
}

// The expected values are those of getFinishTimeFromContainers and getFinishedTime upstream.
describe("finishedAt()", () => {
  test.each<Ends & { what: string; expected: string }>([
    { what: "the later end of both", container: endedLater, sidecar: ended, expected: endedLater },
    { what: "the sidecar's end if it ended last", container: ended, sidecar: endedLater, expected: endedLater },
    { what: "the sidecar's end while a container runs", container: undefined, sidecar: ended, expected: ended },
    { what: "the loss of readiness while the sidecar runs", container: ended, sidecar: undefined, expected: unready },
    { what: "the loss of readiness while both run", container: undefined, sidecar: undefined, expected: unready },
  ])("is $what", ({ container, sidecar, expected }) => {
    expect(finishedAt(pod({ container, sidecar }))).toBe(Date.parse(expected))
  })
})
