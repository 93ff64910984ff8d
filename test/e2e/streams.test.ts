// Operations on a running container: logs in every form, standard input and output, and commands.

import { once } from "node:events"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { eventually } from "../harness/eventually.ts"
import { withoutEarlyMessage } from "../harness/kubectls.ts"
import { startPolyplane, type Polyplane } from "../harness/polyplane.ts"
import { collect, start } from "../harness/processes.ts"

let up: Polyplane

beforeAll(async () => {
  up = await startPolyplane()
})

afterAll(async () => {
  await up?.[Symbol.asyncDispose]()
})

const asInput = ["--stdin", "--attach=false", "--leave-stdin-open"]

async function run(name: string, flags: string[], ...command: string[]): Promise<void> {
  await up.kubectl(["run", name, "--image=busybox", ...flags, "--", ...command])
}

const isReady = (name: string) => up.kubectl(["wait", "--for=condition=Ready", `pod/${name}`, "--timeout=50s"])

/** A kubectl that runs until it is stopped, and its output so far. */
function following(args: string[], env: NodeJS.ProcessEnv = {}) {
  const child = start("kubectl", args, { env: { ...up.environment(), ...env }, stdio: "pipe" })
  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)]
  return {
    type: (text: string) => child.stdin?.write(text),
    prints: (pattern: RegExp) =>
      eventually(() => pattern.test(stdout()), {
        what: `kubectl ${args.join(" ")} printing ${String(pattern)}, not ${stdout()}${stderr()}`,
      }),
    async [Symbol.asyncDispose](): Promise<void> {
      const closed = once(child, "close")
      child.kill()
      await closed
    },
  }
}

/** Since 1.31 kubectl tries WebSocket first; with the variable set to false, and in older versions, SPDY. */
const ways = [{ KUBECTL_REMOTE_COMMAND_WEBSOCKETS: "true" }, { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: "false" }]

describe("kubectl logs", () => {
  test("prints all lines, or the last ones", async () => {
    await run("talker", asInput, "sh", "-c", "for word in one two three; do echo $word; done; cat")
    await isReady("talker")
    await eventually(async () => (await up.kubectl(["logs", "talker"])) === "one\ntwo\nthree\n", { what: "the lines" })
    expect(await up.kubectl(["logs", "talker", "--tail=1"])).toBe("three\n")
    expect(await up.kubectl(["logs", "talker", "--timestamps", "--tail=1"])).toMatch(/^\d{4}-\d\d-\d\dT\S+Z three\n$/)
  })

  test("-f prints existing and new lines", async () => {
    await run("clock", [], "sh", "-c", "while true; do echo tick; sleep 1; done")
    await isReady("clock")
    await using logs = following(["logs", "-f", "--tail=1", "clock"])
    await logs.prints(/^(tick\n){3}/)
  })

  test("--previous prints the lines of the previous container", async () => {
    expect((await up.tryKubectl(["logs", "--previous", "talker"])).stderr).toContain(
      'previous terminated container "talker" in pod "talker" not found',
    )
    await run("failing", ["--restart=OnFailure"], "sh", "-c", "echo the first and only words; exit 3")
    const restarts = ["get", "pod", "failing", "-o", "jsonpath={.status.containerStatuses[0].restartCount}"]
    await eventually(async () => Number(await up.kubectl(restarts)) > 0, { what: "the container started again" })
    expect(await up.kubectl(["logs", "--previous", "failing"])).toBe("the first and only words\n")
  })

  test("reports missing pods and containers", async () => {
    const { code, stderr } = await up.tryKubectl(["logs", "talker", "-c", "other"])
    expect(code).toBe(1)
    expect(stderr).toContain("container other is not valid for pod talker")
    expect((await up.tryKubectl(["logs", "nobody"])).stderr).toContain('pods "nobody" not found')
  })
})

describe("kubectl attach", () => {
  test.each(ways)("sends input to the container and prints its output, with %o", async (env) => {
    const name = `shell-${env.KUBECTL_REMOTE_COMMAND_WEBSOCKETS}`
    await run(name, [...asInput, "--tty"], "sh")
    await isReady(name)
    await using attached = following(["attach", "-i", name], env)
    attached.type("echo $((40+2))\r")
    await attached.prints(/^42\r?$/m)
  })
})

describe("kubectl exec", () => {
  test.each(ways)("separates streams and returns exit codes, with %o", async (env) => {
    const command = ["sh", "-c", "cat; echo wrong >&2; exit 7"]
    const options = { input: "typed\n", env: { ...up.environment(), ...env } }
    const answer = await up.tryKubectl(["exec", "-i", "talker", "--", ...command], options)
    expect(answer).toMatchObject({ code: 7, stdout: "typed\n" })
    expect(withoutEarlyMessage(answer.stderr)).toMatch(/^wrong\n/)
  })

  test.each(ways)("passes megabytes on in both directions, and then the exit code, with %o", async (env) => {
    const text = "a line of the input\n".repeat(200_000)
    const options = { input: text, env: { ...up.environment(), ...env } }
    const { code, stdout } = await up.tryKubectl(["exec", "-i", "talker", "--", "sh", "-c", "cat; exit 7"], options)
    expect([code, stdout.length, stdout === text]).toEqual([7, text.length, true])
  })

  test("reports a missing program", async () => {
    const { code, stderr } = await up.tryKubectl(["exec", "talker", "--", "no-such-program"])
    expect(code).not.toBe(0)
    expect(stderr).toContain("no-such-program")
  })
})
