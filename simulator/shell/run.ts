// Runs parsed scripts: control flow, pipelines, builtins. expand.ts expands words; programs (programs.ts) are plain functions on
// strings. Only `sleep` takes time. Every run is limited: steps, output, substitution depth.

import { resolvePath } from "../container/file-system.ts"
import { expandAll, expandOne, type ExpansionContext } from "./expand.ts"
import { parse, type Node } from "./parse.ts"
import { terminated, type Process } from "./process.ts"
import { programs } from "./programs.ts"
import { redirect } from "./redirect.ts"
import type { Terminal } from "./terminal.ts"
import { SyntaxFault } from "./tokens.ts"
import { trimRight } from "../../apimachinery/texts.ts"

/** Commands that a run may execute between two sleeps: an endless loop without a sleep is aborted. */
const maxStepsAwake = 100_000
const maxDepth = 16
/** Characters of captured output (substitutions, pipes) that are kept. */
const maxCapture = 1024 * 1024

const notFoundCode = 127
const interruptedCode = 130

/** Thrown by `exit`, and when the signal of the run ends. */
class Exit extends Error {
  readonly code: number
  constructor(code: number) {
    super(`exit ${code}`)
    this.code = code
  }
}

interface State {
  process: Process
  last: number
  depth: number
  steps: { left: number }
  /** $0, $1 … */
  arguments: readonly string[]
}

/** Runs a complete command line, such as an image's entrypoint; the shell itself is one of the programs. */
export async function runCommand(process: Process, command: readonly string[]): Promise<number> {
  const state: State = { process, last: 0, depth: 0, steps: { left: maxStepsAwake }, arguments: [] }
  try {
    return await execute(state, [...command])
  } catch (error) {
    if (error instanceof Exit) return error.code
    throw error
  }
}

/** Whether the simulation has this program; others are "not found". */
export function isKnown(name: string): boolean {
  const base = name.split("/").at(-1) ?? ""
  return base === "sh" || base === "bash" || base === "ash" || Object.hasOwn(programs, base)
}

async function runScript(state: State, script: string): Promise<number> {
  if (state.depth > maxDepth) throw new Exit(2)
  try {
    return await run({ ...state, depth: state.depth + 1 }, parse(script))
  } catch (error) {
    if (!(error instanceof SyntaxFault)) throw error
    state.process.stderr(`sh: ${error.message}\n`)
    return 2
  }
}

async function run(state: State, node: Node): Promise<number> {
  if (state.process.signal.aborted) throw new Exit(terminated)
  if (--state.steps.left < 0) {
    state.process.stderr("sh: too many steps without a sleep: the simulation ends this process\n")
    throw new Exit(137)
  }
  // The loop shares its thread with everything else, so it yields regularly.
  if (state.steps.left % 256 === 0) await new Promise((resolve) => setImmediate(resolve))
  switch (node.type) {
    case "list": {
      for (const { node: item, operator } of node.items) {
        if ((operator === "&&" && state.last !== 0) || (operator === "||" && state.last === 0)) continue
        state.last = await run(state, item)
      }
      return state.last
    }
    case "pipeline": {
      const code = await pipeline(state, node.stages)
      return node.negated ? Number(code === 0) : code
    }
    case "if": {
      for (const { condition, body } of node.branches) if ((await run(state, condition)) === 0) return run(state, body)
      return node.otherwise === undefined ? 0 : run(state, node.otherwise)
    }
    case "loop": {
      let code = 0
      while (((await run(state, node.condition)) === 0) !== node.until) code = await run(state, node.body)
      return code
    }
    case "for": {
      let code = 0
      for (const value of await expandAll(expansionContext(state), node.words)) {
        state.process.environment[node.name] = value
        code = await run(state, node.body)
      }
      return code
    }
    case "simple":
      return simple(state, node)
  }
}

/** Each stage gets the complete output of the previous one. */
async function pipeline(state: State, stages: readonly Node[]): Promise<number> {
  let input: string | undefined
  let code = 0
  for (const [index, stage] of stages.entries()) {
    const given = input
    let captured = ""
    const process: Process = {
      ...state.process,
      environment: { ...state.process.environment },
      ...(given === undefined ? {} : { stdin: () => Promise.resolve(given), terminal: undefined }),
      ...(index < stages.length - 1
        ? { stdout: (text: string) => void (captured = (captured + text).slice(-maxCapture)) }
        : {}),
    }
    code = await run({ ...state, process }, stage)
    input = captured
  }
  return code
}

async function simple(state: State, node: Node & { type: "simple" }): Promise<number> {
  const words = await expandAll(expansionContext(state), node.words)
  const assigned: Record<string, string> = {}
  for (const { name, value } of node.assignments) assigned[name] = await expandOne(expansionContext(state), value)
  const process = await redirect(state.process, node.redirections, (word) => expandOne(expansionContext(state), word))
  if (process === undefined) return 1
  if (words.length === 0) {
    Object.assign(state.process.environment, assigned)
    return 0
  }
  if (node.assignments.length > 0) process.environment = { ...process.environment, ...assigned }
  const inner = { ...state, process }
  const code = await execute(inner, words)
  // `cd` is the only program that changes its shell.
  if (words[0] === "cd") state.process.directory = process.directory
  return code
}

async function execute(state: State, words: string[]): Promise<number> {
  const [name = "", ...args] = words
  const { process } = state
  switch (name) {
    case "exit":
      throw new Exit(args[0] === undefined ? state.last : Number.parseInt(args[0], 10) & 255)
    case "exec":
      throw new Exit(await execute(state, args))
    case "set":
    case "trap":
    case "wait":
      return 0
    case "eval":
      return runScript(state, args.join(" "))
    case "export":
      for (const assignment of args) {
        const equals = assignment.indexOf("=")
        if (equals > 0) process.environment[assignment.slice(0, equals)] = assignment.slice(equals + 1)
      }
      return 0
    case "time":
      return execute(state, args)
    default:
  }
  const base = name.split("/").at(-1) ?? ""
  if (base === "sh" || base === "bash" || base === "ash") return shell(state, args)
  const program = programs[base]
  if (program === undefined) {
    process.stderr(`sh: ${name}: not found\n`)
    return notFoundCode
  }
  const code = await program(process, args, (command) => execute(state, command))
  if (base === "sleep") state.steps.left = maxStepsAwake
  if (process.signal.aborted) throw new Exit(terminated)
  return code
}

async function shell(state: State, args: readonly string[]): Promise<number> {
  const flag = args.findIndex((arg) => /^-[a-z]*c$/.test(arg))
  const rest = args.filter((arg) => !/^-[a-z]+$/.test(arg))
  if (flag < 0 && rest[0] === undefined && state.process.terminal !== undefined)
    return interactive(state, state.process.terminal)
  const script =
    flag >= 0
      ? args[flag + 1]
      : rest[0] === undefined
        ? await state.process.stdin()
        : state.process.files.read(resolvePath(state.process.directory, rest[0]))
  if (script === undefined) {
    state.process.stderr(`sh: can't open '${rest[0] ?? ""}'\n`)
    return 2
  }
  const inner: State = { ...state, last: 0, arguments: flag >= 0 ? args.slice(flag + 2) : rest }
  try {
    return await runScript(inner, script)
  } catch (error) {
    if (error instanceof Exit && !state.process.signal.aborted) return error.code
    throw error
  }
}

/** Reads and runs line by line, with a prompt, until `exit` or ^D. ^C ends the current line's commands, not the shell. */
async function interactive(state: State, terminal: Terminal): Promise<number> {
  const shell = state.process
  let last = 0
  const prompt = (): void => shell.stdout(`${shell.directory} # `)
  for (;;) {
    if (shell.signal.aborted) throw new Exit(terminated)
    terminal.onInterrupt = prompt
    prompt()
    const line = await terminal.readLine()
    if (line === undefined) return last
    const interrupted = new AbortController()
    const interrupt = (): void => interrupted.abort()
    terminal.onInterrupt = interrupt
    const process: Process = {
      ...shell,
      stdin: () => terminal.readAll(),
      signal: AbortSignal.any([shell.signal, interrupted.signal]),
    }
    try {
      last = await runScript({ ...state, process, last, steps: { left: maxStepsAwake } }, line)
    } catch (error) {
      if (!(error instanceof Exit) || shell.signal.aborted) throw error
      if (!interrupted.signal.aborted) return error.code
      last = interruptedCode
    } finally {
      shell.directory = process.directory
    }
  }
}

function expansionContext(state: State): ExpansionContext {
  const { environment, hostname } = state.process
  return { ...state, environment, hostname, substitute: (script) => substitute(state, script) }
}

async function substitute(state: State, script: string): Promise<string> {
  let captured = ""
  const process = {
    ...state.process,
    environment: { ...state.process.environment },
    stdout: (text: string) => void (captured = (captured + text).slice(0, maxCapture)),
  }
  await runScript({ ...state, process }, script)
  return trimRight(captured, "\n")
}
