// Upstream's descriptions of request parameters, from client-node's declarations: one file, which is read as text and never
// loaded. In it, line breaks have become spaces; the facts contain their positions.

import { readFile } from "node:fs/promises"
import { dictionary } from "../../dictionary.ts"
import { ownText } from "../own-text.ts"
import { lineEndsOf } from "./facts.ts"

const declarations = "gen/apis/CoreV1Api.d.ts"

/** For each kind of options, a method that accepts all of them. */
const methods: Readonly<Record<string, string>> = dictionary({
  CreateOptions: "createNode",
  DeleteOptions: "deleteNode",
  ListOptions: "listNode",
  NodeProxyOptions: "connectGetNodeProxy",
  PatchOptions: "patchNode",
  PodAttachOptions: "connectGetNamespacedPodAttach",
  PodExecOptions: "connectGetNamespacedPodExec",
  PodLogOptions: "readNamespacedPodLog",
  PodPortForwardOptions: "connectGetNamespacedPodPortforward",
  PodProxyOptions: "connectGetNamespacedPodProxy",
  ServiceProxyOptions: "connectGetNamespacedServiceProxy",
  UpdateOptions: "replaceNode",
})

/** Parameters outside of options, with a method that accepts them. GetOptions takes its description from list. */
const others: Readonly<Record<string, readonly [method: string, parameter: string]>> = dictionary({
  "GetOptions.resourceVersion": ["listNode", "resourceVersion"],
  "path.namespace": ["connectGetNamespacedPodProxyWithPath", "namespace"],
  "path.path": ["connectGetNamespacedPodProxyWithPath", "path"],
  "query.pretty": ["listNode", "pretty"],
})

/** By parameter key, such as "ListOptions.limit" or "path.namespace". */
export async function readParameterDescriptions(): Promise<ReadonlyMap<string, string>> {
  const file = new URL(declarations, import.meta.resolve("@kubernetes/client-node"))
  return parseParameters(await readFile(file, "utf8"))
}

/** Parses the text of the declarations. Pure. */
export function parseParameters(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const [kind, method] of Object.entries(methods)) {
    for (const [name, words] of parametersOf(text, method)) found.set(`${kind}.${ownText(name)}`, words)
  }
  for (const [key, [method, name]] of Object.entries(others)) {
    const words = parametersOf(text, method).get(name)
    if (words !== undefined) found.set(key, words)
  }
  for (const [key, words] of found) found.set(key, ownText(withLineEnds(words, lineEndsOf(key))))
  return found
}

const parameter = /^ {5}\* @param (\w+) (.+)$/gm

/** Parses the comment before a method. */
function parametersOf(text: string, method: string): ReadonlyMap<string, string> {
  const end = text.indexOf(`\n    ${method}(`)
  if (end < 0) throw new Error(`no ${method} in ${declarations}`)
  const comment = text.slice(text.lastIndexOf("/**", end), end)
  const all = [...comment.matchAll(parameter)]
  return new Map(all.map(([, name = "", words = ""]) => [name.replace(/^_/, ""), plain(words)])) // _continue: a reserved word
}

const named: Readonly<Record<string, string>> = dictionary({ amp: "&", gt: ">", lt: "<", quot: '"' })
const escaped = /\\?&(?:#x(?<hex>[0-9A-F]+)|#(?<decimal>\d+)|(?<name>amp|gt|lt|quot));/g

/** Quotes are escaped twice: for a string, and for HTML. */
function plain(words: string): string {
  return words.replaceAll(escaped, (_, hex?: string, decimal?: string, name = "") => {
    if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16))
    return decimal === undefined ? (named[name as string] ?? "") : String.fromCodePoint(Number(decimal))
  })
}

/** Only if all positions are spaces; otherwise the description has changed. */
function withLineEnds(words: string, ends: readonly number[]): string {
  if (ends.some((end) => words[end] !== " ")) return words
  let text = ""
  let start = 0
  for (const end of ends) {
    text += `${words.slice(start, end)}\n`
    start = end + 1
  }
  return text + words.slice(start)
}
