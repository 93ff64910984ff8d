// Writes the warnings of a response as headers, each once. When their total length exceeds the limit, all of them are truncated,
// including earlier ones; if they still exceed it, further warnings are dropped. Source: k8s.io/apiserver/pkg/endpoints/filters/warning.go.

import type { ServerResponse } from "node:http"

/** Lengths in code points. */
const limits = { together: 4096, eachWhenCut: 256 } as const

export class Warnings {
  readonly #response: Pick<ServerResponse, "headersSent" | "appendHeader" | "removeHeader">
  readonly #given = new Set<string>()
  #written = 0
  #isCutting = false

  constructor(response: Pick<ServerResponse, "headersSent" | "appendHeader" | "removeHeader">) {
    this.#response = response
  }

  add(text: string): void {
    if (text === "" || this.#given.has(text) || this.#response.headersSent) return
    if (this.#isCutting && this.#written >= limits.together) return
    this.#given.add(text)
    if (!isPrintable(text)) return
    if (this.#isCutting || this.#written + lengthOf(text) <= limits.together) {
      this.#write(text)
      return
    }
    this.#isCutting = true
    this.#written = 0
    this.#response.removeHeader("Warning")
    for (const each of this.#given) this.#write(each)
  }

  /** Returns a function that takes back what is added from here on. */
  mark(): () => void {
    const count = this.#given.size
    return () => {
      if (this.#given.size === count || this.#response.headersSent) return
      const kept = [...this.#given].slice(0, count)
      this.#given.clear()
      this.#written = 0
      this.#isCutting = false
      this.#response.removeHeader("Warning")
      for (const text of kept) this.add(text)
    }
  }

  #write(text: string): void {
    const shown = this.#isCutting ? Array.from(text).slice(0, limits.eachWhenCut).join("") : text
    if (!isPrintable(shown)) return
    this.#written += lengthOf(shown)
    this.#response.appendHeader("Warning", `299 - ${quoted(shown)}`)
  }
}

/** Other warnings are dropped, because a header cannot contain them. */
function isPrintable(text: string): boolean {
  return !/\p{Cc}/u.test(text) && text.isWellFormed()
}

function lengthOf(text: string): number {
  return Array.from(text).length
}

/** A quoted string of RFC 7230, as bytes. */
function quoted(text: string): string {
  return `"${Buffer.from(text.replace(/[\\"]/g, "\\$&")).toString("latin1")}"`
}
