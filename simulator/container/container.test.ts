import { describe, expect, test } from "vitest"
import { SimulatedContainer, type ContainerSpec } from "./container.ts"
import { FileSystem, Volume } from "./file-system.ts"
import { Input } from "./input.ts"

function start(spec: Partial<ContainerSpec>): SimulatedContainer {
  const files = new FileSystem(new Volume(), [])
  const base = { name: "c", image: "busybox", command: [], environment: {}, files, hostname: "h", workingDir: "/" }
  return new SimulatedContainer("id", { ...base, ports: [], stdin: false, ...spec })
}

const open = new AbortController().signal

function streams(input?: Input, terminal = false) {
  const seen = { out: "", err: "" }
  return {
    seen,
    ...(input === undefined ? {} : { input }),
    terminal,
    stdout: (text: string) => void (seen.out += text),
    stderr: (text: string) => void (seen.err += text),
  }
}

describe("a container", () => {
  test.each<[string, Partial<ContainerSpec>, number]>([
    ["of a shell image ends immediately without input", {}, 0],
    ["ends as its command does", { command: ["sh", "-c", "exit 4"] }, 4],
  ])("%s", async (_, spec, code) => {
    expect(await start(spec).ended).toBe(code)
  })

  test("whose program is not simulated runs until it is stopped", async () => {
    const container = start({ image: "nginx:1" })
    expect(container.exit).toBeUndefined()
    expect(container.simulated).toBe(false)
    expect(container.listens(80)).toBe(true)
    expect(await container.stop()).toBe(0)
    expect(container.listens(80)).toBe(false)
  })

  test("keeps its log, including an unfinished line", async () => {
    const container = start({ command: ["sh", "-c", "echo a; echo b >&2; echo -n c"] })
    await container.ended
    expect(container.log.lines.map(({ stream, text }) => `${stream} ${text}`)).toEqual([
      "stdout a",
      "stderr b",
      "stdout c",
    ])
  })

  test("splits an endless line and keeps its last megabyte", async () => {
    const script = "x=a; for i in $(seq 19); do x=$x$x; done; for i in 1 2 3; do printf $x; done; echo b"
    const container = start({ command: ["sh", "-c", script] })
    await container.ended
    const { lines } = container.log
    const kept = lines.reduce((sum, { text }) => sum + text.length, 0)
    expect(Math.max(...lines.map(({ text }) => text.length))).toBe(16 * 1024)
    expect(kept).toBeLessThanOrEqual(1024 * 1024)
    expect(kept).toBeGreaterThan(512 * 1024)
    expect(lines.map(({ isPartial }) => isPartial === true)).toEqual(lines.map((line) => line !== lines.at(-1)))
    expect(lines.at(-1)?.text).toBe("b")
  })

  test("answers HTTP on its port", async () => {
    const connection = start({ image: "nginx" }).connect(80)
    connection?.write("GET /x HTTP/1.1\r\nHost: h\r\n\r\n")
    const answer = await new Promise<Buffer>((resolve) => connection?.once("data", resolve))
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 OK\r\n.*h answers GET \/x on port 80\n$/s)
    expect(start({ image: "nginx" }).connect(81)).toBeUndefined()
  })

  test("ends the connection after an answer to the last request", async () => {
    const connection = start({ image: "nginx" }).connect(80)
    connection?.write("GET /x HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
    expect(Buffer.concat((await connection?.toArray()) ?? []).toString()).toMatch(/on port 80\n$/)
  })
})

describe("exec", () => {
  test("separates the streams and returns the exit code", async () => {
    const to = streams()
    const code = await start({ image: "nginx" }).exec(["sh", "-c", "echo a; echo b >&2; exit 3"], to, open)
    expect({ code, ...to.seen }).toEqual({ code: 3, out: "a\n", err: "b\n" })
  })

  test("gives standard input to programs that read it", async () => {
    const input = new Input()
    const to = streams(input)
    const running = start({ image: "nginx" }).exec(["cat"], to, open)
    input.push("he")
    input.push("llo")
    input.close()
    expect(await running).toBe(0)
    expect(to.seen.out).toBe("hello")
  })

  test("on a terminal is an interactive shell", async () => {
    const input = new Input()
    const to = streams(input, true)
    const running = start({ image: "nginx" }).exec(["sh"], to, open)
    input.push("hostname; nope\r")
    input.push("exit\r")
    expect(await running).toBe(127)
    expect(to.seen.err).toBe("")
    expect(to.seen.out).toContain("h\r\nsh: nope: not found\r\n")
  })
})

describe("attach", () => {
  test("connects to the main program's input and output", async () => {
    const container = start({ stdin: true, tty: true })
    const input = new Input()
    const to = streams(input)
    const attached = container.attach(to, open)
    input.push("echo $((1+1))\rexit 5\r")
    await attached
    expect(to.seen.out).toContain("2\r\n")
    expect(container.exit?.code).toBe(5)
  })

  test("leaves the program running when the client goes", async () => {
    const container = start({ stdin: true, tty: true })
    const client = new AbortController()
    const attached = container.attach(streams(new Input()), client.signal)
    client.abort()
    await attached
    expect(container.exit).toBeUndefined()
    await container.stop()
  })

  test("closes standard input after the first client with stdinOnce", async () => {
    const container = start({ command: ["cat"], stdin: true, stdinOnce: true })
    const input = new Input()
    const attached = container.attach(streams(input), open)
    input.push("all there is")
    input.close()
    await attached
    expect(container.log.lines.map(({ text }) => text)).toEqual(["all there is"])
  })
})
