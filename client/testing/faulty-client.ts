// A client whose calls fail at random, before or after they have had their effect, and whose watches lag, end or expire.

import { setImmediate as nextTurn } from "node:timers/promises"
import { chance, pick, type Random } from "../../apimachinery/testing/random.ts"
import {
  conflict,
  expired,
  forbidden,
  internalError,
  invalid,
  serviceUnavailable,
  timeout,
  tooManyRequests,
  unauthorized,
  type StatusError,
} from "../../apimachinery/status.ts"
import type { KubeClient, ListWatch, Resource, WatchEvent } from "../rest.ts"
import type { KubeObject } from "../../apimachinery/object.ts"

export interface Faults {
  random: Random
  /** Of a call. It may change at any time. */
  probability: number
  /** Nothing of it is answered. */
  isDown?: boolean
  /** What admission refuses until that ends. */
  denied?: { verb: string; resource: Resource } | undefined
}

const reads = new Set(["get", "list"])
const writes = new Set(["create", "update", "patch", "delete", "deleteCollection"])

export function faulty<T extends KubeClient>(client: T, faults: Faults): T {
  const { random } = faults
  const requireUp = (): void => {
    if (faults.isDown === true) throw serviceUnavailable("down")
  }
  const call =
    (name: string, original: (...args: unknown[]) => Promise<unknown>) =>
    async (...args: unknown[]): Promise<unknown> => {
      requireUp()
      const { denied } = faults
      if (denied?.verb === name && denied.resource === args[0]) throw forbidden(denied.resource, "x", "exceeded quota")
      if (!chance(random, faults.probability)) return original(...args)
      const isWrite = writes.has(name)
      if (isWrite && chance(random, 0.3)) {
        await original(...args)
        throw serviceUnavailable("the answer is lost")
      }
      throw pick(random, failures(name, args[0] as Resource))
    }
  const watch: ListWatch["watch"] = async function* cut(resource, options) {
    requireUp()
    for await (const event of client.watch<KubeObject>(resource, options)) {
      requireUp()
      while (chance(random, Math.min(0.9, faults.probability * 2))) await nextTurn()
      if (chance(random, faults.probability / 4)) throw expired("too old")
      if (chance(random, faults.probability / 4)) return
      yield event as WatchEvent<never>
    }
  }
  return new Proxy(client, {
    get(target, name) {
      if (name === "watch") return watch
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== "function") return value
      const bound = value.bind(target) as (...args: unknown[]) => Promise<unknown>
      return reads.has(String(name)) || writes.has(String(name)) ? call(String(name), bound) : bound
    },
  })
}

function failures(call: string, resource: Resource): StatusError[] {
  const down = [
    serviceUnavailable("down"),
    internalError("a fault"),
    tooManyRequests("busy", 1),
    timeout("late"),
    unauthorized(),
  ]
  if (reads.has(call)) return down
  const refused = [...down, forbidden(resource, "x", "denied"), invalid({ group: resource.group, kind: "X" }, "x", [])]
  // Of what is deleted, it says that another object has the name.
  return call.startsWith("delete") ? refused : [...refused, conflict(resource, "x", "changed")]
}
