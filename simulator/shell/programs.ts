// The programs of a simulated container. Each behaves like its POSIX namesake for the flags it supports, and reports an error for
// others. This list documents what can be run: anything else is "not found".

import { dictionary } from "../../apimachinery/dictionary.ts"
import { resolvePath } from "../container/file-system.ts"
import type { Process } from "./process.ts"

/** `execute` runs another command in the same process context (for env, timeout, xargs and the like). */
type Program = (
  process: Process,
  args: string[],
  execute: (command: string[]) => Promise<number>,
) => Promise<number> | number

const say = (process: Process, text: string): 0 => {
  process.stdout(text)
  return 0
}

export const programs: Readonly<Record<string, Program>> = dictionary({
  true: () => 0,
  false: () => 1,
  ":": () => 0,
  echo,
  printf: (process, [format = "", ...args]) => {
    let next = 0
    const text = unescape(format).replace(/%([sd%])/g, (_, kind: string) =>
      kind === "%" ? "%" : (args[next++] ?? (kind === "d" ? "0" : "")),
    )
    return say(process, text)
  },
  hostname: (process) => say(process, `${process.hostname}\n`),
  date: (process, args) => {
    const now = new Date()
    if (args[0] === "+%s") return say(process, `${Math.floor(now.getTime() / 1000)}\n`)
    return say(process, `${now.toUTCString()}\n`)
  },
  whoami: (process) => say(process, `${process.user}\n`),
  id: (process, args) =>
    say(
      process,
      args[0] === "-u" ? "0\n" : `uid=0(${process.user}) gid=0(${process.user}) groups=0(${process.user})\n`,
    ),
  uname: (process, args) =>
    say(process, args.includes("-a") ? `Linux ${process.hostname} simulated x86_64 GNU/Linux\n` : "Linux\n"),
  pwd: (process) => say(process, `${process.directory}\n`),
  cd: (process, [target = "/root"]) => {
    const path = resolvePath(process.directory, target)
    if (!process.files.isDirectory(path))
      return fail(process, `sh: cd: can't cd to ${target}: No such file or directory`)
    process.directory = path
    return 0
  },
  env: async (process, args, execute) => {
    const command = args.filter((arg) => !arg.includes("="))
    for (const arg of args)
      if (arg.includes("=")) process.environment[arg.slice(0, arg.indexOf("="))] = arg.slice(arg.indexOf("=") + 1)
    return command.length > 0 ? execute(command) : say(process, printEnvironment(process))
  },
  printenv: (process, [name]) => {
    if (name === undefined) return say(process, printEnvironment(process))
    const value = process.environment[name]
    return value === undefined ? 1 : say(process, `${value}\n`)
  },
  cat: async (process, args) => eachFile(process, "cat", args, (text) => text),
  head: (process, args) => lines(process, "head", args, (all, count) => all.slice(0, count)),
  tail: async (process, args) => {
    const code = await lines(
      process,
      "tail",
      args.filter((arg) => arg !== "-f" && arg !== "-F"),
      (all, count) => all.slice(-count),
    )
    if (code === 0 && (args.includes("-f") || args.includes("-F"))) await until(process.signal)
    return code
  },
  wc: async (process, args) => {
    const input = await readAll(process, args)
    const count = args.includes("-c")
      ? input.length
      : args.includes("-w")
        ? input.split(/\s+/).filter(Boolean).length
        : input.split("\n").length - 1
    return say(process, `${count}\n`)
  },
  grep: async (process, args) => {
    const flags = args.filter((arg) => arg.startsWith("-")).join("")
    const [pattern = "", ...files] = args.filter((arg) => !arg.startsWith("-"))
    // Only fixed strings: a tenant's regular expression must not run on this thread.
    const found = (await readAll(process, files))
      .split("\n")
      .filter((line) => line !== "" && line.includes(pattern) !== flags.includes("v"))
    if (!flags.includes("q")) process.stdout(found.map((line) => `${line}\n`).join(""))
    return found.length > 0 ? 0 : 1
  },
  ls: (process, args) => {
    const targets = args.filter((arg) => !arg.startsWith("-"))
    let code = 0
    for (const target of targets.length === 0 ? ["."] : targets) {
      const path = resolvePath(process.directory, target)
      if (process.files.isFile(path)) process.stdout(`${target}\n`)
      else if (process.files.isDirectory(path)) {
        for (const name of process.files.list(path))
          if (!name.startsWith(".") || args.some((arg) => /^-\w*a/.test(arg))) process.stdout(`${name}\n`)
      } else code = fail(process, `ls: ${target}: No such file or directory`)
    }
    return code
  },
  touch: (process, args) => forEachPath(process, "touch", args, (path) => process.files.write(path, "", true)),
  rm: (process, args) =>
    forEachPath(process, "rm", args, (path) => {
      const recursive = args.some((arg) => /^-\w*[rR]/.test(arg))
      if (!recursive && process.files.isDirectory(path)) return "Is a directory"
      const fault =
        recursive && process.files.exists(path) ? process.files.removeTree(path) : process.files.remove(path)
      const isIgnored = fault === "No such file or directory" && args.some((arg) => /^-\w*f/.test(arg))
      return isIgnored ? undefined : fault
    }),
  mkdir: (process, args) =>
    forEachPath(process, "mkdir", args, (path) => process.files.write(`${path}/.keep`, "", true)),
  tee: async (process, args) => {
    const input = await process.stdin()
    for (const name of args.filter((arg) => !arg.startsWith("-")))
      process.files.write(resolvePath(process.directory, name), input, args.includes("-a"))
    return say(process, input)
  },
  seq: (process, args) => {
    const [first, last] = args.length === 1 ? [1, Number(args[0])] : [Number(args[0]), Number(args[1])]
    return say(
      process,
      Array.from({ length: Math.min(Math.max(last - first + 1, 0), 100_000) }, (_, at) => `${first + at}\n`).join(""),
    )
  },
  test: (process, args) => test(process, args),
  "[": (process, args) => (args.at(-1) === "]" ? test(process, args.slice(0, -1)) : fail(process, "[: missing ]", 2)),
  sleep: async (process, args) => {
    const seconds = args.reduce((sum, arg) => sum + duration(arg), 0)
    if (Number.isNaN(seconds)) return fail(process, `sleep: invalid time interval '${args.join(" ")}'`)
    await until(process.signal, seconds)
    return 0
  },
  timeout: async (_process, [, ...command], execute) => execute(command),
  nproc: (process) => say(process, "1\n"),
})

function echo(process: Process, args: string[]): number {
  const flags = args.findIndex((arg) => !/^-[neE]+$/.test(arg))
  const words = flags < 0 ? [] : args.slice(flags)
  const given = args.slice(0, flags < 0 ? args.length : flags).join("")
  const text = words.join(" ")
  return say(process, (given.includes("e") ? unescape(text) : text) + (given.includes("n") ? "" : "\n"))
}

function unescape(text: string): string {
  const known: Readonly<Record<string, string>> = dictionary({ n: "\n", t: "\t", r: "\r", "\\": "\\" })
  return text.replace(/\\([ntr\\])/g, (_, letter: string) => known[letter] ?? letter)
}

function fail(process: Process, message: string, code = 1): number {
  process.stderr(`${message}\n`)
  return code
}

function printEnvironment(process: Process): string {
  return Object.entries(process.environment)
    .map(([name, value]) => `${name}=${value}\n`)
    .join("")
}

async function eachFile(
  process: Process,
  program: string,
  args: string[],
  transform: (text: string) => string,
): Promise<number> {
  const names = args.filter((arg) => arg === "-" || !arg.startsWith("-"))
  if (names.length === 0) return say(process, transform(await process.stdin()))
  let code = 0
  for (const name of names) {
    const path = resolvePath(process.directory, name)
    const text = name === "-" ? await process.stdin() : process.files.read(path)
    if (text !== undefined) process.stdout(transform(text))
    else code = fail(process, `${program}: can't open '${name}': ${process.files.fault(path)}`)
  }
  return code
}

async function readAll(process: Process, args: string[]): Promise<string> {
  let text = ""
  await eachFile(
    { ...process, stdout: (piece) => void (text += piece) },
    "cat",
    args.filter((arg) => !arg.startsWith("-")),
    (piece) => piece,
  )
  return text
}

async function lines(
  process: Process,
  program: string,
  args: string[],
  pick: (all: string[], count: number) => string[],
): Promise<number> {
  let count = 10
  const files: string[] = []
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? ""
    if (arg === "-n") count = Number(args[++at])
    else if (/^-\d+$/.test(arg)) count = -Number(arg)
    else files.push(arg)
  }
  return eachFile(process, program, files, (text) => {
    const all = text.split("\n")
    if (all.at(-1) === "") all.pop()
    return pick(all, count)
      .map((line) => `${line}\n`)
      .join("")
  })
}

function forEachPath(
  process: Process,
  program: string,
  args: string[],
  change: (path: string) => string | undefined,
): number {
  let code = 0
  for (const name of args.filter((arg) => !arg.startsWith("-"))) {
    const fault = change(resolvePath(process.directory, name))
    if (fault !== undefined) code = fail(process, `${program}: ${name}: ${fault}`)
  }
  return code
}

function test(process: Process, args: string[]): number {
  if (args[0] === "!") return Number(test(process, args.slice(1)) === 0)
  const [left = "", operator, right = ""] = args
  if (args.length === 1) return Number(left === "")
  if (args.length === 2) {
    const path = resolvePath(process.directory, operator ?? "")
    const checks: Readonly<Record<string, boolean>> = dictionary({
      "-f": process.files.isFile(path),
      "-e": process.files.exists(path),
      "-d": process.files.isDirectory(path),
      "-r": process.files.exists(path),
      "-s": process.files.isFile(path) && process.files.read(path) !== "",
      "-z": operator === "",
      "-n": operator !== "",
    })
    const held = checks[left]
    return held === undefined ? fail(process, `sh: ${left}: unknown operand`, 2) : Number(!held)
  }
  const [a, b] = [Number(left), Number(right)]
  const comparisons: Readonly<Record<string, boolean>> = dictionary({
    "=": left === right,
    "==": left === right,
    "!=": left !== right,
    "-eq": a === b,
    "-ne": a !== b,
    "-lt": a < b,
    "-le": a <= b,
    "-gt": a > b,
    "-ge": a >= b,
  })
  const held = comparisons[operator ?? ""]
  return held === undefined ? fail(process, `sh: ${operator ?? ""}: unknown operand`, 2) : Number(!held)
}

/** "5", "0.5", "2m", "infinity" → seconds. */
function duration(text: string): number {
  if (text === "infinity" || text === "inf") return Number.POSITIVE_INFINITY
  const match = /^(\d+(?:\.\d+)?)([smhd]?)$/.exec(text)
  if (match === null) return Number.NaN
  return Number(match[1]) * ({ "": 1, s: 1, m: 60, h: 3600, d: 86_400 }[match[2] ?? ""] ?? 1)
}

/** Resolves after the time, or at once when the process is asked to end. A timer's maximum delay is 2³¹ ms. */
function until(signal: AbortSignal, seconds = Number.POSITIVE_INFINITY): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener("abort", done)
      resolve()
    }
    const timer = seconds * 1000 < 2 ** 31 ? setTimeout(done, seconds * 1000) : undefined
    signal.addEventListener("abort", done)
  })
}
