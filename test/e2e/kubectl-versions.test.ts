// The same few operations with every kubectl minor version that is installed beside the default one: kubectl.1.27, kubectl.1.28, ….

import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { installedKubectls } from "../harness/kubectls.ts"
import { startPolyplane, type Polyplane } from "../harness/polyplane.ts"

const installed = installedKubectls()

describe.skipIf(installed.length === 0)("kubectl of other minors (none is installed when skipped)", () => {
  let up: Polyplane

  beforeAll(async () => {
    up = await startPolyplane()
  })

  afterAll(async () => {
    await up?.[Symbol.asyncDispose]()
  })

  test.each(installed)("kubectl $minor: apply, get, wait, logs, exec, explain, delete", async ({ minor, program }) => {
    const name = `pod-${minor.replace(".", "-")}`
    const pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name },
      spec: { containers: [{ name: "main", image: "busybox", command: ["sh", "-c", "echo started; sleep 3600"] }] },
    }
    const kubectl = (args: string[], input?: string) =>
      up.kubectl(args, { program, ...(input === undefined ? {} : { input }) })

    expect(await kubectl(["version", "--client", "-o", "json"])).toContain(`"gitVersion": "v${minor}.`)
    expect(await kubectl(["apply", "-f", "-"], JSON.stringify(pod))).toBe(`pod/${name} created\n`)
    expect(await kubectl(["apply", "-f", "-"], JSON.stringify(pod))).toBe(`pod/${name} unchanged\n`)
    expect(await kubectl(["wait", "--for=condition=Ready", `pod/${name}`, "--timeout=20s"])).toContain("condition met")
    expect(await kubectl(["get", "pod", name])).toMatch(new RegExp(`^${name} +1/1 +Running `, "m"))
    expect(await kubectl(["logs", name])).toBe("started\n")
    expect(await kubectl(["exec", name, "--", "hostname"])).toBe(`${name}\n`)
    expect(await kubectl(["explain", "pod.spec.containers"])).toContain("FIELDS")
    expect(await kubectl(["delete", "pod", name, "--now"])).toContain(`pod "${name}"`)
  })
})
