import { describe, expect, test } from "vitest"
import type { Container, Pod } from "../../../apimachinery/object.ts"
import { admittedAnnotation } from "../../../apimachinery/tenancy.ts"
import { contextWith, object } from "../../testing/sync-context.ts"
import { recordAdmission } from "./admitted.ts"
import { pod } from "./pod.ts"

type Resources = NonNullable<Container["resources"]>

function podWith(image: string, resources: Resources, generation?: number, record?: string): Pod {
  const annotations = record === undefined ? {} : { [admittedAnnotation]: record }
  const spec = { containers: [{ name: "m", image, resources }] }
  return object({ metadata: { namespace: "default", name: "web", uid: "u1", generation, annotations }, spec })
}

const changesOf = (wanted: Pod, copy: Pod): unknown[] =>
  pod.changed(wanted, copy, contextWith()).map(({ subresource = "", patch }) => [subresource, Object.keys(patch)])
const recordFor = (wanted: Pod, copy: Pod): string | undefined =>
  pod.annotations?.(wanted, contextWith(), copy)[admittedAnnotation]

const asked: Resources = { requests: { cpu: "1" }, limits: { cpu: "2", memory: "1Gi" } }
const given: Resources = { requests: { cpu: "100m" }, limits: { memory: "1024Mi" } }
const all = JSON.stringify({
  "m image": ["a", "mirror/a"],
  "m requests.cpu": ["1", "100m"],
  "m limits.cpu": ["2", null],
})
const written = [
  ["", ["spec"]],
  ["resize", ["spec"]],
]

describe("tolerations that admission has left out", () => {
  const tolerating = (keys: string[], generation: number, record?: string): Pod => {
    const { metadata, spec } = podWith("a", {}, generation, record)
    const tolerations = keys.map((key) => ({ key, operator: "Exists" }))
    return object({ metadata, spec: { ...spec, tolerations } })
  }
  const wanted = tolerating(["a", "b"], 1)
  const record = JSON.stringify({ " tolerations": [JSON.stringify([{ key: "b", operator: "Exists" }]), null] })

  test("are recorded and left out, and only others are added", () => {
    expect(recordFor(wanted, tolerating(["a"], 1))).toBe(record)
    expect(recordAdmission(wanted, tolerating(["a", "b"], 1))).toBeUndefined()
    expect(changesOf(wanted, tolerating(["a"], 7, record))).toEqual([])
    const [change] = pod.changed(tolerating(["a", "b", "c"], 2), tolerating(["a"], 7, record), contextWith())
    expect(change).toEqual({ patch: { spec: { tolerations: ["a", "c"].map((key) => ({ key, operator: "Exists" })) } } })
  })

  test("are tried once if nothing is known of them", () => {
    const copy = tolerating(["a"], 7)
    const [change] = pod.changed(wanted, copy, contextWith())
    expect(changesOf(wanted, copy)).toEqual([["", ["spec"]]])
    expect(recordAdmission(wanted, copy, change)).toEqual({
      patch: { metadata: { annotations: { [admittedAnnotation]: record } } },
    })
    const other = { patch: { spec: { containers: [] } } }
    expect(recordAdmission(wanted, tolerating(["a"], 7, record), other)).toBeUndefined()
    expect(changesOf(wanted, tolerating(["a"], 7, JSON.stringify({ " tolerations": ["x", null] })))).toEqual([
      ["", ["spec"]],
    ])
  })
})

describe("what admission has changed, added or removed", () => {
  test("is recorded, and stays as long as the tenant asks for the same", () => {
    const wanted = podWith("a", asked)
    const note = recordAdmission(wanted, podWith("mirror/a", given))
    expect(note).toEqual({ patch: { metadata: { annotations: { [admittedAnnotation]: all } } } })
    expect(changesOf(wanted, podWith("mirror/a", given, 7, all))).toEqual([])
    expect(changesOf(podWith("b", { limits: { cpu: "3" } }), podWith("mirror/a", given, 7, all))).toEqual(written)
    expect(changesOf(wanted, podWith("by hand", { ...given, requests: {} }, 7, all))).toEqual(written)
  })

  test.each<[what: string, ofTenant: number | undefined, ofCopy: number | undefined, isKept: boolean]>([
    ["nobody has changed anything", 1, 1, true],
    ["the tenant has changed something", 2, 1, false],
    ["somebody in super has changed something", 1, 2, false],
    ["super does not count", 1, undefined, false],
    ["neither side counts", undefined, undefined, false],
  ])("and is not recorded on the copy, is recorded there if %s", (_what, ofTenant, ofCopy, isKept) => {
    const [wanted, copy] = [podWith("a", asked, ofTenant), podWith("mirror/a", given, ofCopy)]
    expect(recordFor(wanted, copy)).toBe(isKept ? all : undefined)
    expect(changesOf(wanted, copy)).toEqual(isKept ? [] : written)
  })

  test.each(["null", "[]", "1", "{", '"m image"'])("is recorded anew over %s", (odd) => {
    const [wanted, copy] = [podWith("a", asked, 1), podWith("mirror/a", given, 1, odd)]
    expect(recordFor(wanted, copy)).toBe(all)
    expect(changesOf(wanted, copy)).toEqual([])
    expect(changesOf(wanted, podWith("mirror/a", given, 2, odd))).toEqual(written)
  })

  test.each(["null", "1", "{}", '"am"', "[]"])("is unknown if it is recorded as %s", (odd) => {
    const record = `{"m image":${odd},"m limits.cpu":${odd},"m requests.cpu":${odd}}`
    expect(changesOf(podWith("a", asked, 1), podWith("mirror/a", given, 1, record))).toEqual(written)
  })

  test("is written over with the tenant's, if the record were too long", () => {
    const [wanted, copy] = [podWith("a".repeat(40_000), {}, 1), podWith("b".repeat(40_000), {}, 1)]
    expect(recordAdmission(wanted, copy)).toBeUndefined()
    expect(recordFor(wanted, copy)).toBeUndefined()
    expect(changesOf(wanted, copy)).toEqual([["", ["spec"]]])
  })

  test("is not of containers that the copy lacks", () => {
    const copy: Pod = object({ spec: { containers: [{ name: "other" }] } })
    expect(recordAdmission(podWith("a", asked), copy)).toBeUndefined()
  })
})
