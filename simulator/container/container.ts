// One run of one container: a simulated process with a log, open ports, and programs that can be run in it. A program of an image
// that cannot be simulated is assumed to run until it is stopped or, if others wait for its end, to have completed.

import { createServer } from "node:http"
import { duplexPair, type Duplex } from "node:stream"
import { aborted } from "../../client/clock.ts"
import { ContainerLog } from "./log.ts"
import type { FileSystem } from "./file-system.ts"
import { terminated, type Process } from "../shell/process.ts"
import { isKnown, runCommand } from "../shell/run.ts"
import { Terminal, withCarriageReturns } from "../shell/terminal.ts"
import { Input } from "./input.ts"

export interface ContainerSpec {
  name: string
  image: string
  /** command + args of the pod; empty: the image's default. */
  command: readonly string[]
  environment: Readonly<Record<string, string>>
  files: FileSystem
  hostname: string
  workingDir: string
  /** TCP ports declared by the pod. */
  ports: readonly number[]
  /** The main program's standard input remains open, for attach. */
  stdin: boolean
  /** Standard input is closed when the first attached client leaves. */
  stdinOnce?: boolean
  /** The main program has a terminal. */
  tty?: boolean
  /** The main program is assumed to end by itself, even if it cannot be simulated, because others wait for it. */
  ends?: boolean
}

export interface ExecStreams {
  /** Only read by some programs. */
  input?: Input
  /** `input` and the output belong to a terminal; standard error then goes to `stdout`. */
  terminal?: boolean
  stdout: (text: string) => void
  stderr: (text: string) => void
}

/** Images whose default program is a shell: it ends at once without a terminal, and waits for input with one. */
const shellImages = /(^|\/)(busybox|alpine|debian|ubuntu|bash)(:|@|$)/
/** Images that serve HTTP, with the port if the pod declares none. */
const webImages: readonly (readonly [RegExp, number])[] = [
  [/(^|\/)nginx[^/]*$/, 80],
  [/(^|\/)(httpd|caddy|whoami)[^/]*$/, 80],
  [/(^|\/)(echoserver|http-echo|podinfo)[^/]*$/, 8080],
]

/** The exit code of a program that the runtime could not start: an error of the simulation itself. */
const failedStart = 128

export class SimulatedContainer {
  readonly id: string
  readonly spec: ContainerSpec
  readonly log = new ContainerLog()
  readonly startedAt = Date.now()
  /** Standard input of the main program; closed unless the pod requests it. */
  readonly input = new Input()
  readonly #stop = new AbortController()
  readonly #ended: Promise<number>
  #exit: { code: number; at: number } | undefined

  constructor(id: string, spec: ContainerSpec) {
    this.id = id
    this.spec = spec
    if (!spec.stdin) this.input.close()
    this.#ended = this.#run()
  }

  /** Undefined while it runs. */
  get exit(): { code: number; at: number } | undefined {
    return this.#exit
  }

  /** Resolves with the exit code. */
  get ended(): Promise<number> {
    return this.#ended
  }

  /** SIGTERM; the simulated process stops at once. */
  stop(): Promise<number> {
    this.#stop.abort()
    return this.#ended
  }

  /** Resolves with the exit code; 127 for unknown commands. */
  exec(command: readonly string[], streams: ExecStreams, signal: AbortSignal): Promise<number> {
    return runCommand(this.#process(streams, AbortSignal.any([signal, this.#stop.signal])), command)
  }

  /** Attaches to the main program's streams until it or the signal ends. */
  async attach(streams: ExecStreams, signal: AbortSignal): Promise<void> {
    const shown = this.spec.tty === true ? withCarriageReturns : (text: string) => text
    const stop = this.log.watch((stream, text) => streams[this.spec.tty === true ? "stdout" : stream](shown(text)))
    const gone = aborted(signal)
    const feeding = streams.input === undefined ? undefined : this.#feed(streams.input, signal)
    try {
      await Promise.race([this.#ended, gone])
    } finally {
      stop()
      if (feeding !== undefined && this.spec.stdinOnce === true) this.input.close()
    }
  }

  async #feed(from: Input, signal: AbortSignal): Promise<void> {
    const until = AbortSignal.any([signal, this.#stop.signal])
    for (let chunk = await from.next(until); chunk !== undefined; chunk = await from.next(until)) {
      if (!this.input.push(chunk)) return // the program does not read: further input is dropped
    }
    if (this.spec.stdinOnce === true) this.input.close()
  }

  /** Whether the program is really simulated, rather than only assumed to run. */
  get simulated(): boolean {
    const { command, image } = this.spec
    return command.length > 0 ? isKnown(command[0] ?? "") : shellImages.test(image)
  }

  listens(port: number): boolean {
    return this.#exit === undefined && this.#listening.includes(port)
  }

  /** A connection to a port, as opened by port-forward; undefined if it is refused. */
  connect(port: number): Duplex | undefined {
    return this.listens(port) ? webServer(this.spec.hostname, port) : undefined
  }

  get #listening(): readonly number[] {
    if (this.spec.command.length > 0 && isKnown(this.spec.command[0] ?? "")) return []
    const web = webImages.find(([pattern]) => pattern.test(this.spec.image))?.[1]
    return web === undefined ? this.spec.ports : [...new Set([...this.spec.ports, web])]
  }

  async #run(): Promise<number> {
    const code = await this.#main().catch((error: unknown) => {
      this.log.write("stderr", `${String(error)}\n`)
      return failedStart
    })
    this.#exit = { code, at: Date.now() }
    this.log.end()
    return code
  }

  async #main(): Promise<number> {
    const { command, image, stdin, tty, ends = false } = this.spec
    const streams: ExecStreams = {
      input: this.input,
      terminal: stdin && tty === true,
      stdout: (text) => this.log.write("stdout", text),
      stderr: (text) => this.log.write("stderr", text),
    }
    if (command.length > 0 && isKnown(command[0] ?? ""))
      return runCommand(this.#process(streams, this.#stop.signal), command)
    if (command.length === 0 && shellImages.test(image))
      return runCommand(this.#process(streams, this.#stop.signal), ["sh"])
    if (ends) {
      streams.stdout(`${image}: done (simulated)\n`)
      return 0
    }
    const listening = this.#listening
    streams.stdout(
      `${image}: started${listening.length === 0 ? "" : `, listening on ${listening.join(", ")}`} (simulated)\n`,
    )
    await new Promise((resolve) => this.#stop.signal.addEventListener("abort", resolve))
    return command.length > 0 ? terminated : 0
  }

  #process(streams: ExecStreams, signal: AbortSignal): Process {
    const { environment, files, hostname, workingDir } = this.spec
    const { input = Input.empty(), terminal = false } = streams
    // The main program's output is stored without carriage returns; attach adds them.
    const convert = terminal && input !== this.input
    const stdout = convert ? (text: string) => streams.stdout(withCarriageReturns(text)) : streams.stdout
    const common = { environment: { ...environment }, files, hostname, directory: workingDir, user: "root", signal }
    if (!terminal) return { ...common, stdin: () => input.all(signal), stdout, stderr: streams.stderr }
    const keyboard = new Terminal(input, stdout, signal)
    return { ...common, stdin: () => keyboard.readAll(), stdout, stderr: stdout, terminal: keyboard }
  }
}

/** Responds to every request with the host name, like the web servers of demonstrations. */
function webServer(hostname: string, port: number): Duplex {
  const [client, server] = duplexPair()
  createServer((request, response) => {
    response.setHeader("Server", "polyplane-simulator")
    response.setHeader("Content-Type", "text/plain")
    response.end(`${hostname} answers ${request.method} ${request.url} on port ${port}\n`)
  }).emit("connection", server)
  return client
}
