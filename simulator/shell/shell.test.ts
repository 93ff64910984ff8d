import { describe, expect, test } from "vitest"
import { FileSystem, Volume } from "../container/file-system.ts"
import { Input } from "../container/input.ts"
import type { Process } from "./process.ts"
import { runCommand } from "./run.ts"
import { Terminal } from "./terminal.ts"

interface Run {
  code: number
  out: string
  err: string
}

function shell(input = "", signal = new AbortController().signal) {
  const run: Run = { code: -1, out: "", err: "" }
  const files = new FileSystem(
    new Volume([
      ["etc/hostname", "web-1\n"],
      ["data/a", "1\n2\n3\n"],
    ]),
    [{ path: "/config", volume: new Volume([["key", "value"]], true), readOnly: true }],
  )
  const process: Process = {
    environment: { NAME: "world", LIST: "a b" },
    files,
    hostname: "web-1",
    directory: "/",
    user: "root",
    stdin: () => Promise.resolve(input),
    stdout: (text) => void (run.out += text),
    stderr: (text) => void (run.err += text),
    signal,
  }
  return { run, process }
}

async function sh(script: string): Promise<Run> {
  const { run, process } = shell()
  run.code = await runCommand(process, ["sh", "-c", script])
  return run
}

describe("sh -c", () => {
  test.each<[string, string]>([
    ["echo hello", "hello\n"],
    ["echo -n a; echo b", "ab\n"],
    ["echo $NAME '$NAME' \"$NAME\"", "world $NAME world\n"],
    ["for x in $LIST c; do echo $x; done", "a\nb\nc\n"],
    ['for x in "$LIST"; do echo $x; done', "a b\n"],
    ["true && echo yes || echo no", "yes\n"],
    ["false && echo yes || echo no", "no\n"],
    ["! false && echo negated", "negated\n"],
    ["if [ -f /etc/hostname ]; then cat /etc/hostname; else echo none; fi", "web-1\n"],
    ["if test a = b; then echo 1; elif test 2 -gt 1; then echo 2; fi", "2\n"],
    ["i=0; while [ $i -lt 3 ]; do i=$((i+1)); echo $i; done", "1\n2\n3\n"],
    ["X=$(hostname); echo ${X}-${Y:-none}", "web-1-none\n"],
    ["cat /data/a | grep 2", "2\n"],
    ["cat /data/a | wc -l", "3\n"],
    ["head -n 1 /data/a; tail -1 /data/a", "1\n3\n"],
    ["echo x > /tmp/f; echo y >> /tmp/f; cat /tmp/f", "x\ny\n"],
    ["cat < /config/key", "value"],
    ["cat /config/missing 2>/dev/null || echo gone", "gone\n"],
    ["cd /data && pwd && ls", "/data\na\n"],
    ["echo one; exit 0; echo two", "one\n"],
    ["export A=1; env | grep A=", "A=1\n"],
    ["A=2 printenv A; echo [$A]", "2\n[]\n"],
    ["mkdir /tmp/d; touch /tmp/d/f; rm -rf /tmp/d; test -e /tmp/d || echo gone", "gone\n"],
    ["printf '%s-%d\\n' a 1", "a-1\n"],
    ["eval 'echo evaluated'", "evaluated\n"],
    ["sh -c 'echo inner; exit 3'; echo $?", "inner\n3\n"],
    ["echo a # comment", "a\n"],
    ["whoami; id -u", "root\n0\n"],
  ])("%s", async (script, out) => {
    expect(await sh(script)).toEqual({ code: 0, out, err: "" })
  })

  test.each<[string, number, string]>([
    ["exit 7", 7, ""],
    ["false", 1, ""],
    ["curl http://x", 127, "sh: curl: not found\n"],
    ["cat /nothing", 1, "cat: can't open '/nothing': No such file or directory\n"],
    ["cat /data", 1, "cat: can't open '/data': Is a directory\n"],
    ["echo x > /config/key", 1, "sh: can't create /config/key: Read-only file system\n"],
    ["if true", 2, 'sh: syntax error: expected "then"\n'],
    ["sleep 1 &", 2, 'sh: syntax error: "&" is not supported\n'],
    ["while true; do :; done", 137, "sh: too many steps without a sleep: the simulation ends this process\n"],
  ])("%s ends with %i", async (script, code, err) => {
    expect(await sh(script)).toEqual({ code, out: "", err })
  })

  test("reads its script from standard input", async () => {
    const { run, process } = shell("echo from; echo stdin")
    expect(await runCommand(process, ["sh"])).toBe(0)
    expect(run.out).toBe("from\nstdin\n")
  })

  test("does not run a missing script", async () => {
    const { run, process } = shell()
    expect(await runCommand(process, ["sh", "/missing.sh"])).toBe(2)
    expect(run.err).toBe("sh: can't open '/missing.sh'\n")
  })

  test("exits with 143 on SIGTERM, also while sleeping", async () => {
    const stop = new AbortController()
    const { process } = shell("", stop.signal)
    const running = runCommand(process, ["sh", "-c", "while true; do sleep 3600; done"])
    stop.abort()
    expect(await running).toBe(143)
  })
})

describe("a shell on a terminal", () => {
  function open() {
    const input = new Input()
    const { run, process } = shell()
    const terminal = new Terminal(input, process.stdout, process.signal)
    const running = runCommand({ ...process, stdin: () => terminal.readAll(), terminal }, ["sh"])
    return { input, run, running }
  }

  test("prompts, echoes, edits and runs lines until exit", async () => {
    const { input, run, running } = open()
    input.push("echo hex\x7fllo\rcd /data\r\r")
    input.push("exit 4\r")
    expect(await running).toBe(4)
    expect(run.out).toBe("/ # echo hex\b \bllo\ncd /data\n\nexit 4\nhello\n/ # /data # /data # ")
  })

  test("ends with the last code at ^D", async () => {
    const { input, running } = open()
    input.push("false\r\x04")
    expect(await running).toBe(1)
  })

  test("interrupts a command with ^C and continues", async () => {
    const { input, run, running } = open()
    input.push("sleep 3600\r")
    while (!run.out.includes("sleep 3600\n")) await new Promise((resolve) => setImmediate(resolve))
    await new Promise((resolve) => setImmediate(resolve))
    input.push("\x03")
    while (!run.out.endsWith("^C\n/ # ")) await new Promise((resolve) => setImmediate(resolve))
    input.push("echo $?\r\x04")
    expect(await running).toBe(0)
    expect(run.out).toContain("130\n")
  })
})

test("a variable that doubles ends its script at the memory limit", async () => {
  const { code, err } = await sh("x=0123456789; while true; do x=$x$x; done")
  expect([code, err]).toEqual([2, "sh: out of memory\n"])
})

test("words that expand beyond the limit are rejected before expansion", async () => {
  const { code, err } = await sh(`x=0123456789; for i in $(seq 15); do x=$x$x; done; echo ${"$x ".repeat(1000)}`)
  expect([code, err]).toEqual([2, "sh: argument list too long\n"])
})
