import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { describe, expect, test } from "vitest"
import { printReport, shorten } from "./report.ts"
import { beyondConformance, conformance, reasonOf } from "./selection.ts"
import { complete, judge, merge, readSpecs, withoutRun, type SpecResult } from "./specs.ts"

const spec = (name: string, outcome: SpecResult["outcome"], message = ""): SpecResult => ({
  name,
  group: /\[(sig-\w+)\]/.exec(name)?.[1] ?? "none",
  outcome,
  seconds: 1,
  message,
})

describe("the report", () => {
  const results = [
    spec("[sig-apps] a", "passed"),
    spec("[sig-apps] b", "failed", "it `did` not\n  work"),
    spec("[sig-node] c", "passed"),
    spec("[sig-node] d", "not run", "never begun"),
  ]
  const context = { version: "v1", superCluster: "two nodes", command: "npm run conformance", runs: 1 }
  const text = printReport(results, conformance, context)

  test("has the count over the whole suite on its first line, however much was run", () => {
    expect(text.split("\n")[0]).toBe("2 / 446")
  })

  test("counts per group, and says why of every spec that did not pass", () => {
    expect(text).toContain("| sig-apps               |      1 |      1 |       0 |")
    expect(text).toContain("| sig-node               |      1 |      0 |       1 |")
    expect(text).toContain("## Failed\n\n- `[sig-apps] b`: `it 'did' not work`\n")
    expect(text).toContain("## Not run\n\n- `[sig-node] d`: `never begun`\n")
    expect(text).not.toContain("| excluded |")
    expect(text).toContain("Written by `npm run conformance`.\n")
  })

  test("says why one does not pass, where that is meant so", () => {
    const one = spec("[sig-network] Service CIDRs should create Services", "failed", "no such range")
    const explained = printReport([one], beyondConformance, context)
    expect(explained).toContain("should create Services`: the super cluster allocates Service addresses")
  })

  test("beyond conformance counts what is not asked, by reason, and leaves it out of the denominator", () => {
    const one = withoutRun("[sig-apps] x", "not asked", "needs a cloud")
    const [first, ...rest] = printReport([...results, one], { ...beyondConformance, specs: 5 }, context).split("\n")
    expect(first).toBe("2 / 4")
    expect(rest).toContain("| special interest group | passed | failed | not run | excluded |")
    expect(rest).toContain("| sig-apps               |      1 |      1 |       0 |        1 |")
    expect(rest).toContain("| needs a cloud |     1 |")
  })
})

const autoscaling = "[sig-autoscaling] [Feature:HPA] Horizontal pod autoscaling"

test.each([
  ["[sig-apps] Job should run a job to completion when tasks succeed", undefined],
  ["[sig-network] Services should check NodePort out-of-range", undefined],
  ["[sig-apps] CronJob should not schedule new jobs when ForbidConcurrent [Slow]", "marked as slow"],
  ["[sig-auth] a [Slow]", "marked as slow"],
  ["[sig-api-machinery] a [Slow]", "marked as slow"],
  [`${autoscaling} (scale resource: Memory) Deployment (Pod Resource) Should scale`, undefined],
  [`${autoscaling} (scale resource: CPU) ReplicaSet [Slow] Should scale from 1 pod to 3 pods`, undefined],
  [`${autoscaling} (scale resource: CPU) ReplicaSet [Slow] Should scale and verify decision stability`, undefined],
  ["[sig-apps] DaemonRestart [Disruptive] Scheduler should continue", "stops nodes or control plane components"],
  [
    "[sig-network] Conntrack proxy implementation should not be vulnerable to the invalid conntrack state bug",
    "needs images",
  ],
  [
    "[sig-auth] [FeatureGate:ClusterTrustBundle] [Beta] [Feature:OffByDefault] should be able to mount",
    "tests an alpha feature",
  ],
])("beyond conformance, %s: %s", (name, reason) => {
  const said = reasonOf(beyondConformance.notAsked, name)
  if (reason === undefined) expect(said).toBeUndefined()
  else expect(said).toContain(reason)
})

test("conformance asks everything", () => {
  expect(reasonOf(conformance.notAsked, "[sig-apps] [Disruptive] [Conformance]")).toBeUndefined()
})

test("messages lose places on the machine, and what is beyond a line", () => {
  expect(shorten("failed: open /tmp/polyplane-x/demo.kubeconfig\n  twice")).toBe("failed: open … twice")
  expect(shorten("x".repeat(1000))).toHaveLength(242)
})

describe("ginkgo's report", () => {
  test("is read spec by spec; one that is not there has none", async () => {
    const directory = await mkdtemp(path.join(tmpdir(), "report-"))
    const file = path.join(directory, "report.json")
    const it = { LeafNodeType: "It", LeafNodeText: "works [Conformance]", RunTime: 1_500_000_000 }
    const SpecReports = [
      { ...it, ContainerHierarchyTexts: ["[sig-api-machinery] Watchers"], State: "passed" },
      { ...it, ContainerHierarchyTexts: ["[sig-node] Pods"], State: "timedout", Failure: { Message: "too late" } },
      { ...it, ContainerHierarchyTexts: ["[sig-node] Pods"], State: "skipped" },
      { ...it, LeafNodeType: "SynchronizedBeforeSuite", State: "passed" },
    ]
    await writeFile(file, JSON.stringify([{ SpecReports }]))
    const [first, second, third, ...rest] = await readSpecs(file)
    expect(first).toEqual({
      name: "[sig-api-machinery] Watchers works [Conformance]",
      group: "sig-api-machinery",
      outcome: "passed",
      seconds: 1.5,
      message: "",
    })
    expect(second).toMatchObject({ outcome: "failed", message: "too late" })
    expect(third).toMatchObject({ outcome: "not run" })
    expect(rest).toEqual([])
    await rm(directory, { recursive: true })
    expect(await readSpecs(file)).toEqual([])
  })

  test("of several runs counts what was run", () => {
    const [a, b] = ["[sig-apps] a", "[sig-apps] b"]
    const first = [spec(a, "passed"), spec(b, "not run")]
    expect(merge([first, [spec(a, "not run"), spec(b, "failed")]])).toMatchObject([
      { name: a, outcome: "passed" },
      { name: b, outcome: "failed" },
    ])
  })

  test("reports why a spec did not run rather than that it never started, by the current rules", () => {
    const name = "[sig-node] a"
    const runs = [withoutRun(name, "not asked", "an old rule"), withoutRun(name, "not run", "Only supported for gce")]
    const never = withoutRun(name, "not run", "never begun")
    expect(merge([runs, [never]])).toEqual([runs[1]])
    expect(merge([[never], runs])).toEqual([runs[1]])
    expect(judge(spec(name, "failed"), "a new rule")).toEqual(withoutRun(name, "not asked", "a new rule"))
    expect(judge(withoutRun(name, "not asked", "an old rule"), undefined)).toEqual(never)
  })

  test("counts what was selected and never begun as not run", () => {
    expect(complete(["[sig-node] a", "[sig-node] b"], [spec("[sig-node] b", "passed")])).toMatchObject([
      { name: "[sig-node] a", group: "sig-node", outcome: "not run", message: "never begun" },
      { name: "[sig-node] b", outcome: "passed" },
    ])
  })
})
