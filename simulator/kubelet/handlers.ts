// What probes and lifecycle hooks run in a container: a command, a request to one of its ports, or a pause.

import type { Container } from "../../apimachinery/object.ts"
import { pause, systemClock } from "../../client/clock.ts"
import type { SimulatedContainer } from "../container/container.ts"

type Lifecycle = NonNullable<Container["lifecycle"]>
export type Probe = NonNullable<Container["livenessProbe"]>
export type Hook = NonNullable<Lifecycle["postStart"]>

/** A shell's exit code for a missing program. */
const notFound = 127
/** Characters of the output that are kept. */
const maxOutput = 10 * 1024

/**
 * Returns undefined if it succeeded, else what went wrong. Until the signal ends. For a program that is only assumed to run, what cannot
 * be simulated (its ports, tools of its image) succeeds, as do requests to other hosts.
 */
export async function runHandler(
  handler: Probe | Hook,
  spec: Container,
  container: SimulatedContainer,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (handler.exec) {
    let output = ""
    const write = (text: string): void => void (output = (output + text).slice(0, maxOutput))
    const code = await container.exec(handler.exec.command ?? [], { stdout: write, stderr: write }, signal)
    if (code === notFound && !container.simulated) return undefined
    return code === 0 ? undefined : output.trim() === "" ? `command exited with ${code}` : output.trim()
  }
  if ("sleep" in handler && handler.sleep) {
    await pause(systemClock, handler.sleep.seconds * 1000, signal)
    return signal.aborted ? "container terminated before sleep hook finished" : undefined
  }
  const action = handler.httpGet ?? handler.tcpSocket ?? ("grpc" in handler ? handler.grpc : undefined)
  if (action === undefined || !container.simulated || ("host" in action && action.host)) return undefined
  const port = portOf(spec, action.port)
  return port !== undefined && container.listens(port) ? undefined : `dial tcp: connect: connection refused`
}

function portOf(spec: Container, wanted: unknown): number | undefined {
  if (typeof wanted === "number") return wanted
  return spec.ports?.find(({ name }) => name === wanted)?.containerPort
}

export function printHook({ exec, httpGet, sleep }: Hook): string {
  if (exec) return `Exec lifecycle hook ([${(exec.command ?? []).join(" ")}])`
  return httpGet ? `HTTP lifecycle hook (${httpGet.path ?? ""})` : `Sleep lifecycle hook (${sleep?.seconds ?? 0})`
}
