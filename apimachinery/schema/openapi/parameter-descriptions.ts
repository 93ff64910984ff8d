// What the parameters of requests are for, in upstream's words, as client-node's declarations carry them: one file, which is read
// as text and never loaded. There a line's end has become a space; the facts know which spaces were one.

import { readFile } from "node:fs/promises"
import { dictionary } from "../../dictionary.ts"
import { ownText } from "../own-text.ts"
import { lineEndsOf } from "./facts.ts"

const declarations = "gen/apis/CoreV1Api.d.ts"

/** A method that takes all options of a kind. */
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

/** Of no options, by a method that takes them; GetOptions has what lists have. */
const others: Readonly<Record<string, readonly [method: string, parameter: string]>> = dictionary({
  "GetOptions.resourceVersion": ["listNode", "resourceVersion"],
  "path.namespace": ["connectGetNamespacedPodProxyWithPath", "namespace"],
  "path.path": ["connectGetNamespacedPodProxyWithPath", "path"],
  "query.pretty": ["listNode", "pretty"],
})

/** By a parameter's key: "ListOptions.limit", "path.namespace". */
export async function readParameterDescriptions(): Promise<ReadonlyMap<string, string>> {
  const file = new URL(declarations, import.meta.resolve("@kubernetes/client-node"))
  return parseParameters(await readFile(file, "utf8"))
}

/** Pure: the text of the declarations. */
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

/** From the comment before a method. */
function parametersOf(text: string, method: string): ReadonlyMap<string, string> {
  const end = text.indexOf(`\n    ${method}(`)
  if (end < 0) throw new Error(`no ${method} in ${declarations}`)
  const comment = text.slice(text.lastIndexOf("/**", end), end)
  const all = [...comment.matchAll(parameter)]
  return new Map(all.map(([, name = "", words = ""]) => [name.replace(/^_/, ""), plain(words)])) // _continue: a word of the language
}

const named: Readonly<Record<string, string>> = dictionary({ amp: "&", gt: ">", lt: "<", quot: '"' })
const escaped = /\\?&(?:#x(?<hex>[0-9A-F]+)|#(?<decimal>\d+)|(?<name>amp|gt|lt|quot));/g

/** Quotes are escaped twice: for a text, and for a page. */
function plain(words: string): string {
  return words.replaceAll(escaped, (_, hex?: string, decimal?: string, name = "") => {
    if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16))
    return decimal === undefined ? (named[name as string] ?? "") : String.fromCodePoint(Number(decimal))
  })
}

/** Only where all of them are spaces: of other words nothing is known. */
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
