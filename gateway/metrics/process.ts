// Resource usage of the process. Source: github.com/prometheus/client_golang/prometheus/process_collector.go.

import { readdirSync, readFileSync } from "node:fs"
import { family, sample } from "../../client/metrics/exposition.ts"

const microsecondsPerSecond = 1e6

/** Milliseconds since the epoch. */
export const processStart: number = Math.floor(Date.now() - process.uptime() * 1000)

export function printProcess(): string {
  const { user, system } = process.cpuUsage()
  const cpu = sample("process_cpu_seconds_total", "", (user + system) / microsecondsPerSecond)
  const gauges: [name: string, help: string, value: number | undefined][] = [
    ["process_resident_memory_bytes", "Memory of the process", process.memoryUsage.rss()],
    ["process_virtual_memory_bytes", "Addresses of the process", virtualMemory()],
    ["process_open_fds", "Files that are open", openFiles()],
    ["process_max_fds", "Files that may be open", maxFiles()],
    ["process_start_time_seconds", "When the process began, since the epoch", processStart / 1000],
  ]
  const known = gauges.flatMap(([name, help, value]) =>
    value === undefined ? [] : [family(name, "gauge", help, [sample(name, "", value)])],
  )
  return family("process_cpu_seconds_total", "counter", "Processor time of the process", [cpu]) + known.join("")
}

/** Only available on Linux. */
function ask<T>(question: () => T): T | undefined {
  try {
    return question()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined
    throw error
  }
}

const openFiles = (): number | undefined => ask(() => readdirSync("/proc/self/fd").length)

/** Node raises its own soft limit to the hard limit. */
export function maxFiles(): number | undefined {
  const limits = ask(() => readFileSync("/proc/self/limits", "utf8"))
  return numberIn(limits, /^Max open files\s+(\d+)/m)
}

function virtualMemory(): number | undefined {
  const kibibytes = numberIn(
    ask(() => readFileSync("/proc/self/status", "utf8")),
    /^VmSize:\s+(\d+) kB/m,
  )
  return kibibytes === undefined ? undefined : kibibytes * 1024
}

function numberIn(text: string | undefined, pattern: RegExp): number | undefined {
  const [, digits] = pattern.exec(text ?? "") ?? []
  return digits === undefined ? undefined : Number(digits)
}
