// Runs an operator as its users do: its manifests are applied, its programs run with the token of the service account these give
// it, and things are done until it has done its part.

import { mkdir, readFile, writeFile } from "node:fs/promises"
import path from "node:path"
import { parse, stringify } from "yaml"
import { eventually } from "../../harness/eventually.ts"
import { run, succeed, type Output } from "../../harness/processes.ts"
import { binary, binaryPath } from "../build/cache.ts"
import { parts } from "../build/parts.ts"
import { Component } from "../harness/component.ts"
import { freePorts } from "../../harness/ports.ts"
import type { Kubelet } from "./kubelet.ts"
import type { Operator, OperatorProgram, Step } from "./operators.ts"

const modules = parts.find(({ name }) => name === "operators")?.folder ?? ""
const objects = path.join(import.meta.dirname, "objects")
const goTimeoutMs = 60_000
const stepTimeoutMs = 70_000
/** What an error begins with in the logs of klog and, in both of its forms, zap. */
const errorLine = /^E\d{4} |"level":"error"|\tERROR\t/

/** Folders of the operators' modules; why they are not there, otherwise. */
export async function findModules(operators: readonly Operator[]): Promise<Map<string, string> | string> {
  const env = { ...process.env, GOWORK: "off", GOFLAGS: "-mod=readonly", GOPROXY: "off" }
  const names = operators.map(({ module }) => module)
  try {
    const args = ["list", "-m", "-f", "{{.Path}} {{.Dir}}", ...names]
    const lines = (await succeed("go", args, { cwd: modules, env, timeoutMs: goTimeoutMs })).trim().split("\n")
    const found = new Map(lines.map((line) => line.split(" ") as [string, string]))
    const missing = names.filter((name) => !found.get(name))
    return missing.length === 0 ? found : `${missing.join(", ")}: not in Go's module cache`
  } catch (error) {
    return `the operators' modules: ${(error as Error).message.split("\n")[0]}`
  }
}

interface Place {
  /** Of the operator's module. */
  module: string
  /** The administrator's. */
  kubeconfig: string
  /** For what is written meanwhile. */
  folder: string
  kubelet: Kubelet
}

/** Fails with what is not as it should be, and says where the logs are. */
export async function runOperator(operator: Operator, place: Place): Promise<void> {
  for (const { folder } of [{ folder: "." }, ...(operator.mounts ?? [])]) {
    await mkdir(path.join(place.folder, folder), { recursive: true })
  }
  const [port = 0, port2 = 0] = await freePorts(2)
  const words = { objects, port, port2, module: place.module, folder: place.folder, kubelet: place.kubelet.port }
  const fill = (text: string) => text.replaceAll(/\{(\w+)\}/g, (all, name) => String(words[name as "port"] ?? all))
  const session = new Session(place, fill)
  await using stack = new AsyncDisposableStack()
  for (const step of operator.install) await session.take(step)
  const running = await Promise.all(operator.programs.map((program) => session.start(operator, program, stack)))
  try {
    await session.mount(operator)
    for (const step of operator.steps) await session.take(step)
  } catch (error) {
    const ended = running.flatMap(({ name, ended }) => (ended === undefined ? [] : [`${name} ${ended}`]))
    throw new Error(`${(error as Error).message}\n${ended.join("\n")}\n${await session.lastLines(running)}`, {
      cause: error,
    })
  }
  const complaints = (await session.logs(running)).split("\n").filter((line) => errorLine.test(line))
  const unexpected = complaints.filter((line) => !(operator.expected ?? []).some((each) => each.test(line)))
  if (unexpected.length > 0) throw new Error(`it complained:\n${unexpected.join("\n")}`)
}

class Session {
  readonly #place: Place
  readonly #fill: (text: string) => string
  readonly #env: NodeJS.ProcessEnv

  constructor(place: Place, fill: (text: string) => string) {
    this.#place = place
    this.#fill = fill
    this.#env = { ...process.env, HOME: place.folder, KUBECONFIG: place.kubeconfig }
  }

  async take({ run: command, until, refused }: Step): Promise<void> {
    if (until === undefined) {
      const { stdout, stderr, code } = await this.#run(command)
      const isRight = refused === undefined ? code === 0 : code !== 0 && refused.test(stderr)
      if (!isRight) throw new Error(`${command}: exit ${code}\n${stdout}${stderr}`)
      return
    }
    let last = ""
    const isSaid = async () => {
      const { stdout, stderr } = await this.#run(command)
      last = stdout + stderr
      return until.test(last.trim())
    }
    await eventually(isSaid, { timeoutMs: stepTimeoutMs }).catch((cause: unknown) => {
      throw new Error(`${command}: never said ${String(until)}, but\n${last}`, { cause })
    })
  }

  #run(command: string): Promise<Output> {
    const [program = "", ...args] = this.#fill(command).split(" ")
    return run(binaryPath(program), args, { env: this.#env, timeoutMs: stepTimeoutMs })
  }

  async start(
    { namespace }: Operator,
    { program, serviceAccount, flags, env = {} }: OperatorProgram,
    stack: AsyncDisposableStack,
  ): Promise<Component> {
    const kubeconfig = await this.#kubeconfigOf(namespace, serviceAccount)
    return stack.use(
      await Component.start({
        name: serviceAccount,
        program: await binary(program),
        args: flags.map((flag) => this.#fill(flag.replace("{kubeconfig}", kubeconfig))),
        logFile: this.#logFile(serviceAccount),
        env: { ...this.#env, KUBECONFIG: kubeconfig, ...env },
      }),
    )
  }

  async #kubeconfigOf(namespace: string, serviceAccount: string): Promise<string> {
    const { stdout: token, stderr, code } = await this.#run(`kubectl create token ${serviceAccount} -n ${namespace}`)
    if (code !== 0) throw new Error(stderr)
    const config = parse(await readFile(this.#place.kubeconfig, "utf8")) as { users: { user: unknown }[] }
    for (const each of config.users) each.user = { token: token.trim() }
    const file = path.join(this.#place.folder, `${serviceAccount}.kubeconfig`)
    await writeFile(file, stringify(config), { mode: 0o600 })
    return file
  }

  /** As a kubelet does: when the Secret has something in it. */
  async mount({ mounts = [], namespace }: Operator): Promise<void> {
    for (const { folder, secret } of mounts) {
      if (secret === undefined) continue
      const command = `kubectl get secret ${secret} -n ${namespace} -o jsonpath={.data}`
      const content = async () => {
        const { stdout } = await this.#run(command)
        return stdout.startsWith("{") && (JSON.parse(stdout) as Record<string, string>)
      }
      const data = await eventually(content, { timeoutMs: stepTimeoutMs, what: `data of secret ${secret}` })
      for (const [name, value] of Object.entries(data)) {
        const file = path.join(this.#place.folder, folder, name)
        await writeFile(file, Buffer.from(value, "base64"), { mode: 0o600 })
      }
    }
  }

  #logFile(name: string): string {
    return path.join(this.#place.folder, `${name}.log`)
  }

  async logs(running: readonly Component[]): Promise<string> {
    return (await Promise.all(running.map(({ name }) => readFile(this.#logFile(name), "utf8")))).join("\n")
  }

  async lastLines(running: readonly Component[]): Promise<string> {
    return (await this.logs(running)).trimEnd().split("\n").slice(-20).join("\n").slice(-6000)
  }
}
