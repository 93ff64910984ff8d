// The gateway's limits as settings, with the names of gateway/options.ts.

import { defaultLimits, type GatewayLimits } from "../gateway/options.ts"
import { UsageError } from "./command.ts"
import { type Field, integer, optional, section } from "./config.ts"
import { integerFlag, wrapped } from "./flags.ts"

const names = Object.keys(defaultLimits).sort() as (keyof GatewayLimits)[]

/** Node fires timers with a delay of more than 2 ** 31 - 1 immediately, and some limits are added up. */
const longestMs = 1_000_000_000

/** With 0 of these the gateway allows, keeps or waits for none. With 0 of others it could serve nothing, or would have no limit. */
const mayBeZero = new Set<keyof GatewayLimits>([
  "maxIdleConnections",
  "maxLongRunning",
  "maxNodePorts",
  "maxServices",
  "maxStoredBytes",
  "maxStoredObjects",
  "maxWaiting",
  "shutdownMs",
  "storedBytesReserve",
  "tenantReadyMs",
])

function rangeOf(name: keyof GatewayLimits): [least: number, most: number] {
  return [mayBeZero.has(name) ? 0 : 1, name.endsWith("Ms") ? longestMs : Number.MAX_SAFE_INTEGER]
}

/** For the help of the commands that take limits. */
export const limitsHelp = `Limits of the gateway, with their defaults. Names that end in Ms are in milliseconds, in Bytes in bytes; others are counts.

  ${wrapped(names.map((name) => `${name}=${defaultLimits[name]}`).join(" "), 2)}
`

/** A mapping in a file; limits that are absent keep their defaults. */
export const limitsField: Field<Partial<GatewayLimits>> = section(
  Object.fromEntries(names.map((name) => [name, optional(integer(...rangeOf(name)))])),
)

/** Such as "maxStoredObjects=1000"; repeatable. */
export function limitFlags(flags: readonly string[]): Partial<GatewayLimits> {
  return Object.fromEntries(flags.map(limitFlag))
}

function limitFlag(flag: string): [keyof GatewayLimits, number] {
  const [, name = "", text = ""] = /^(\w+)=(\d+)$/.exec(flag) ?? []
  if (text === "") throw new UsageError(`--limit must be NAME=NUMBER, not "${flag}"`)
  const known = names.find((each) => each === name)
  if (known === undefined)
    throw new UsageError(`--limit ${name}: there is no such limit; known are ${names.join(", ")}`)
  return [known, integerFlag(`limit ${name}`, text, ...rangeOf(known))]
}
