// One run of one container: a simulated process with a log, ports it listens on, and programs that can be run beside it. What
// cannot be simulated (an image's own program) is taken to run until it is told to stop.

import { Duplex } from "node:stream"
import { ContainerLog } from "./log.ts"
import type { FileSystem } from "./file-system.ts"
import { isKnown, runCommand, terminated, type Process } from "../shell/run.ts"

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
  stdin: boolean
}

export interface ExecStreams {
  /** Resolves with all of standard input; only called by programs that read it. */
  stdin(): Promise<string>
  stdout(text: string): void
  stderr(text: string): void
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
  readonly #stop = new AbortController()
  readonly #ended: Promise<number>
  #exit: { code: number; at: number } | undefined

  constructor(id: string, spec: ContainerSpec) {
    this.id = id
    this.spec = spec
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
    return web === undefined ? this.spec.ports : [...this.spec.ports, web]
  }

  async #run(): Promise<number> {
    const code = await this.#main()
    this.#exit = { code, at: Date.now() }
    this.log.end()
    return code
  }

  async #main(): Promise<number> {
    const { command, image, stdin } = this.spec
    const streams: ExecStreams = {
      stdin: () => Promise.resolve(""),
      stdout: (text) => this.log.write("stdout", text),
      stderr: (text) => this.log.write("stderr", text),
    }
    if (command.length > 0 && isKnown(command[0] ?? ""))
      return runCommand(this.#process(streams, this.#stop.signal), command)
    if (command.length === 0 && shellImages.test(image) && !stdin) return 0
    const listening = this.#listening
    streams.stdout(
      `${image}: started${listening.length === 0 ? "" : `, listening on ${listening.join(", ")}`} (simulated)\n`,
    )
    await new Promise((resolve) => this.#stop.signal.addEventListener("abort", resolve))
    return command.length > 0 ? terminated : 0
  }

  #process(streams: ExecStreams, signal: AbortSignal): Process {
    const { environment, files, hostname, workingDir } = this.spec
    return { environment: { ...environment }, files, hostname, directory: workingDir, user: "root", signal, ...streams }
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
