// The content type of metrics: always Prometheus' text, in which names are escaped as the client asks for, since none of ours needs
// it. Source: github.com/prometheus/common/expfmt (Negotiate).

import type { IncomingHttpHeaders } from "node:http"
import { expositionOf } from "../../client/metrics/exposition.ts"
import { parseAccept } from "./accept.ts"

const schemes: ReadonlySet<string> = new Set(["allow-utf-8", "underscores", "dots", "values"])
const textVersions: ReadonlySet<string> = new Set(["", "0.0.4"])

/** Clauses after the first one for this text do not count. Upstream can also write protobuf, which no client needs. */
export function expositionTypeFor({ headers }: { headers: IncomingHttpHeaders }): string {
  let scheme = "underscores"
  for (const { type, parameters } of parseAccept(headers.accept ?? "")) {
    const asked = parameters.get("escaping") ?? ""
    if (schemes.has(asked)) scheme = asked
    if (type === "text/plain" && textVersions.has(parameters.get("version") ?? "")) break
  }
  return expositionOf(scheme)
}
