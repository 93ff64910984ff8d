// The gateway's limits as settings, with the names of gateway/options.ts.

import { defaultLimits, type GatewayLimits } from "../gateway/options.ts"
import { UsageError } from "./command.ts"
import { type Field, integer, optional, section } from "./config.ts"
import { wrapped } from "./flags.ts"

const names = Object.keys(defaultLimits).sort() as (keyof GatewayLimits)[]

const limit = integer(0, Number.MAX_SAFE_INTEGER)

/** For the help of the commands that take limits. */
export const limitsHelp = `Limits of the gateway, with their defaults. Names that end in Ms are in milliseconds, in Bytes in bytes; others are counts.

  ${wrapped(names.map((name) => `${name}=${defaultLimits[name]}`).join(" "), 2)}
`

/** A mapping in a file; limits that are absent keep their defaults. */
export const limitsField: Field<Partial<GatewayLimits>> = section(
  Object.fromEntries(names.map((name) => [name, optional(limit)])),
)

/** Such as "maxStoredObjects=1000"; repeatable. */
export function limitFlags(flags: readonly string[]): Partial<GatewayLimits> {
  return Object.fromEntries(flags.map(limitFlag))
}

function limitFlag(flag: string): [keyof GatewayLimits, number] {
  const [, name = "", text = ""] = /^(\w+)=(\d+)$/.exec(flag) ?? []
  const known = names.find((each) => each === name)
  const value = Number(text)
  if (text === "" || !Number.isSafeInteger(value)) throw new UsageError(`--limit must be NAME=NUMBER, not "${flag}"`)
  if (known === undefined)
    throw new UsageError(`--limit ${name}: there is no such limit; known are ${names.join(", ")}`)
  return [known, value]
}
