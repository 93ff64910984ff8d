// /healthz, /livez, /readyz and their checks. A control plane is alive when its store answers.

import type { ServerResponse } from "node:http"
import { StorageError } from "../../storage/types.ts"
import type { RequestContext } from "../request/context.ts"

interface Check {
  name: string
  /** Undefined: fine. */
  run(ctx: RequestContext): Promise<string | undefined>
}

const checks: readonly Check[] = [
  { name: "ping", run: () => Promise.resolve(undefined) },
  {
    // Named etcd where dashboards and probes expect it: the store.
    name: "etcd",
    async run(ctx) {
      try {
        await ctx.controlPlane.store.get("/registry/namespaces/default")
        return undefined
      } catch (error) {
        if (error instanceof StorageError) return error.message
        throw error
      }
    },
  },
]

/** False: there is no such check. */
export async function serveHealth(ctx: RequestContext, response: ServerResponse): Promise<boolean> {
  const [endpoint = "healthz", ...rest] = ctx.info.path.split("/").filter((part) => part !== "")
  const one = rest.join("/")
  const excluded = new Set(ctx.query.getAll("exclude"))
  const wanted =
    one === "" ? checks.filter(({ name }) => !excluded.has(name)) : checks.filter(({ name }) => name === one)
  if (wanted.length === 0) return false
  const lines: string[] = []
  let failed = false
  for (const check of wanted) {
    const fault = await check.run(ctx)
    failed ||= fault !== undefined
    lines.push(fault === undefined ? `[+]${check.name} ok` : `[-]${check.name} failed: reason withheld`)
  }
  const verbose = failed || (ctx.query.has("verbose") && one === "")
  const text = verbose ? `${lines.join("\n")}\n${endpoint} check ${failed ? "failed" : "passed"}\n` : "ok"
  response
    .writeHead(failed ? 500 : 200, {
      "content-type": "text/plain; charset=utf-8",
      "x-content-type-options": "nosniff",
      "cache-control": "no-cache, private",
    })
    .end(text)
  return true
}
