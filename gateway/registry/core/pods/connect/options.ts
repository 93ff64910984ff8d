// Converts the query of a connection to the options object for admission (such as PodExecOptions), and back.

import type { Json, KubeObject } from "../../../../../apimachinery/object.ts"

const lists: ReadonlySet<string> = new Set(["command"])
const numbers: ReadonlySet<string> = new Set(["ports"])
const texts: ReadonlySet<string> = new Set(["container", "path"])
const flags: ReadonlySet<string> = new Set(["stdin", "stdout", "stderr", "tty"])

export function connectOptions(kind: string, query: URLSearchParams): KubeObject {
  const options: { [key: string]: Json } = {}
  for (const name of new Set(query.keys())) {
    const values = query.getAll(name)
    const [first = ""] = values
    if (lists.has(name)) options[name] = values
    else if (numbers.has(name)) options[name] = values.flatMap((value) => value.split(",")).map(Number)
    else if (flags.has(name) && isTrue(first)) options[name] = true
    else if (texts.has(name) && first !== "") options[name] = first
  }
  // They have no metadata.
  return { kind, apiVersion: "v1", ...options } as unknown as KubeObject
}

/** The query for options that admission may have modified. */
export function connectQuery(options: KubeObject): URLSearchParams {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(options as unknown as Record<string, Json>)) {
    if (name === "kind" || name === "apiVersion") continue
    for (const each of Array.isArray(value) ? value : [value]) {
      if (typeof each === "string") query.append(name, each)
      else if (typeof each === "number" || typeof each === "boolean") query.append(name, String(each))
    }
  }
  return query
}

/** Like upstream's conversion of booleans in queries. */
const isTrue = (value: string): boolean => value.toLowerCase() !== "false" && value !== "0"
