// The chain's end: from what the filters found out to the plain context everything below works with.

import type { APIHandler } from "../endpoints/installer.ts"
import type { RequestContext } from "../request/context.ts"
import type { Filter, GatewayResponse } from "./state.ts"

/** All warnings of an answer together; beyond it further ones are cut, then dropped. Source: filters/warning.go. */
const warningLimits = { totalCharacters: 4096, eachWhenCut: 256 } as const

export function callAPI(handler: APIHandler): Filter {
  return async (request, response) => {
    const { state } = response.locals
    const { controlPlane, info, user, query, upgrade, turn } = state
    const ctx: RequestContext = {
      controlPlane,
      info,
      user,
      query,
      headers: request.headers as RequestContext["headers"],
      get signal() {
        return state.signal
      },
      endAfter: (seconds) => state.endAfter(seconds),
      warn: warner(response),
      annotate: (key, value) => state.annotate(key, value),
      ...(turn === undefined ? {} : { turn }),
    }
    await handler(ctx, { request, response, ...(upgrade === undefined ? {} : { upgrade }) })
  }
}

function warner(response: GatewayResponse): (message: string) => void {
  const seen = new Set<string>()
  let used = 0
  return (message) => {
    if (seen.has(message) || response.headersSent) return
    seen.add(message)
    const whole = Array.from(message) // by code points
    const room = warningLimits.totalCharacters - used
    const text = whole.length <= room ? whole : whole.slice(0, Math.min(room, warningLimits.eachWhenCut))
    if (text.length === 0) return
    used += text.length
    response.appendHeader("Warning", `299 - ${quoted(text.join(""))}`)
  }
}

/** A quoted string of RFC 7230; what a header cannot hold is left out. */
function quoted(text: string): string {
  // eslint-disable-next-line no-control-regex
  const printable = text.replace(/[\u0000-\u001f\u007f]/g, " ")
  const latin = Buffer.from(printable.replace(/[\\"]/g, "\\$&")).toString("latin1")
  return `"${latin}"`
}
