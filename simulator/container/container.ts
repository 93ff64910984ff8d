// One run of one container: a simulated process with a log, ports it listens on, and programs that can be run beside it. What
// cannot be simulated (an image's own program) is taken to run until it is told to stop, or, where others wait for its end, to have
// done its work.

import { Duplex } from "node:stream"
import { ContainerLog } from "./log.ts"
import type { FileSystem } from "./file-system.ts"
import { terminated, type Process } from "../shell/process.ts"
import { isKnown, runCommand } from "../shell/run.ts"
import { Terminal, withCarriageReturns } from "../shell/terminal.ts"
import { Input } from "./input.ts"

export interface ContainerSpec {
  name: string
  image: string
  /** command + args of the pod; empty: the image's own. */
  command: readonly string[]
  environment: Readonly<Record<string, string>>
  files: FileSystem
  hostname: string
  workingDir: string
  /** TCP ports declared by the pod. */
  ports: readonly number[]
  /** The main program's standard input is kept open, for attach. */
  stdin: boolean
  /** … until the first client that attached to it leaves. */
  stdinOnce?: boolean
  /** The main program has a terminal. */
  tty?: boolean
  /** The main program comes to its end by itself, also one that cannot be simulated: others wait for that. */
  ends?: boolean
}

export interface ExecStreams {
  /** Only read by programs that do. */
  input?: Input
  /** `input` and the output are a terminal's; standard error then goes to `stdout`. */
  terminal?: boolean
  stdout: (text: string) => void
  stderr: (text: string) => void
}

/** Images whose own program is a shell: without a terminal it ends at once, with one it waits. */
const shellImages = /(^|\/)(busybox|alpine|debian|ubuntu|bash)(:|@|$)/
/** Images that serve HTTP, and on which port if the pod declares none. */
const webImages: readonly (readonly [RegExp, number])[] = [
  [/(^|\/)nginx[^/]*$/, 80],
  [/(^|\/)(httpd|caddy|whoami)[^/]*$/, 80],
  [/(^|\/)(echoserver|http-echo|podinfo)[^/]*$/, 8080],
]

export class SimulatedContainer {
  readonly id: string
  readonly spec: ContainerSpec
  readonly log = new ContainerLog()
  readonly startedAt = Date.now()
  /** Of the main program; closed unless the pod wants it open. */
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

  /** SIGTERM; the simulated process obeys at once. */
  stop(): Promise<number> {
    this.#stop.abort()
    return this.#ended
  }

  /** Resolves with the exit code; 127 for what the container does not have. */
  exec(command: readonly string[], streams: ExecStreams, signal: AbortSignal): Promise<number> {
    return runCommand(this.#process(streams, AbortSignal.any([signal, this.#stop.signal])), command)
  }

  /** Joins the main program's streams until it ends or the signal does. Resolves with its exit code, or 0. */
  async attach(streams: ExecStreams, signal: AbortSignal): Promise<number> {
    const shown = this.spec.tty === true ? withCarriageReturns : (text: string) => text
    const stop = this.log.watch((stream, text) => streams[this.spec.tty === true ? "stdout" : stream](shown(text)))
    const gone = new Promise<number>((resolve) => signal.addEventListener("abort", () => resolve(0), { once: true }))
    const feeding = streams.input === undefined ? undefined : this.#feed(streams.input, signal)
    try {
      return await Promise.race([this.#ended, gone])
    } finally {
      stop()
      if (feeding !== undefined && this.spec.stdinOnce === true) this.input.close()
    }
  }

  async #feed(from: Input, signal: AbortSignal): Promise<void> {
    const until = AbortSignal.any([signal, this.#stop.signal])
    for (let chunk = await from.next(until); chunk !== undefined; chunk = await from.next(until)) {
      if (!this.input.push(chunk)) return // the program does not read: what is typed further is lost
    }
    if (this.spec.stdinOnce === true) this.input.close()
  }

  /** What it does is known in all detail; otherwise it is only taken to run. */
  get simulated(): boolean {
    const { command, image } = this.spec
    return command.length > 0 ? isKnown(command[0] ?? "") : shellImages.test(image)
  }

  listens(port: number): boolean {
    return this.#exit === undefined && this.#listening.includes(port)
  }

  /** A connection to a port, as port-forward opens it; undefined: refused. */
  connect(port: number): Duplex | undefined {
    return this.listens(port) ? webServer(this.spec.hostname, port) : undefined
  }

  get #listening(): readonly number[] {
    if (this.spec.command.length > 0 && isKnown(this.spec.command[0] ?? "")) return []
    const web = webImages.find(([pattern]) => pattern.test(this.spec.image))?.[1]
    return web === undefined ? this.spec.ports : [...new Set([...this.spec.ports, web])]
  }

  async #run(): Promise<number> {
    const code = await this.#main()
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
    // A main program's output is kept as it is written; carriage returns are for who looks at it (attach).
    const convert = terminal && input !== this.input
    const stdout = convert ? (text: string) => streams.stdout(withCarriageReturns(text)) : streams.stdout
    const common = { environment: { ...environment }, files, hostname, directory: workingDir, user: "root", signal }
    if (!terminal) return { ...common, stdin: () => input.all(signal), stdout, stderr: streams.stderr }
    const keyboard = new Terminal(input, stdout, signal)
    return { ...common, stdin: () => keyboard.readAll(), stdout, stderr: stdout, terminal: keyboard }
  }
}

/** Enough of HTTP/1.1 for a browser or curl: every request is answered with who answers. */
function webServer(hostname: string, port: number): Duplex {
  const maxHead = 16 * 1024
  let head = ""
  const connection = new Duplex({
    allowHalfOpen: false,
    read: () => undefined,
    write(chunk: Buffer, _encoding, callback) {
      head = (head + chunk.toString("latin1")).slice(-maxHead)
      for (let end = head.indexOf("\r\n\r\n"); end >= 0; end = head.indexOf("\r\n\r\n")) {
        const [method = "GET", path = "/"] = head.split(" ", 2)
        head = head.slice(end + 4)
        const body = `${hostname} answers ${method} ${path} on port ${port}\n`
        connection.push(
          `HTTP/1.1 200 OK\r\nServer: polyplane-simulator\r\nContent-Type: text/plain\r\nContent-Length: ${body.length}\r\n\r\n${method === "HEAD" ? "" : body}`,
        )
      }
      callback()
    },
    final(callback) {
      connection.push(null)
      callback()
    },
  })
  return connection
}
