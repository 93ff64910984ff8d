// /healthz, /livez, /readyz and their checks, and /metrics/slis, which contains the same as metrics. A control plane is alive if
// its store responds.

import { goQuote } from "../../apimachinery/go/quote.ts"
import { compareText } from "../../apimachinery/go/text-order.ts"
import { dictionary } from "../../apimachinery/dictionary.ts"
import type { ServerResponse } from "node:http"
import { gzipSync } from "node:zlib"
import { faultOf } from "../registry/generic/storage/storage-errors.ts"
import type { RequestContext } from "../request/context.ts"
import { expositionTypeFor } from "./exposition.ts"
import { acceptsGzipAtAll } from "./responses/body-writer.ts"

interface Check {
  name: string
  /** Undefined: healthy. Otherwise the error. */
  run(ctx: RequestContext): Promise<string | undefined>
}

const ping: Check = { name: "ping", run: () => Promise.resolve(undefined) }

const askStore: Check["run"] = ({ controlPlane }) => faultOf(controlPlane.store)

/** The check of the store, named etcd because dashboards and probes expect that. */
const etcd: Check = { name: "etcd", run: askStore }

/** A condition that holds before a control plane serves any request, so the check always succeeds. */
const done = (name: string): Check => ({ name, run: () => Promise.resolve(undefined) })

/**
 * Upstream performs these steps after it has started to serve; probes and scripts wait for single ones. Here a control plane is
 * opened first, including its roles, classes, definitions and APIs.
 */
const startSteps: readonly Check[] = [
  "poststarthook/start-apiserver-admission-initializer",
  "poststarthook/generic-apiserver-start-informers",
  "poststarthook/priority-and-fairness-config-consumer",
  "poststarthook/priority-and-fairness-filter",
  "poststarthook/storage-object-count-tracker-hook",
  "poststarthook/start-apiextensions-informers",
  "poststarthook/start-apiextensions-controllers",
  "poststarthook/crd-informer-synced",
  "poststarthook/start-system-namespaces-controller",
  "poststarthook/peer-endpoint-reconciler-controller",
  "poststarthook/start-cluster-authentication-info-controller",
  "poststarthook/start-kube-apiserver-identity-lease-controller",
  "poststarthook/start-kube-apiserver-identity-lease-garbage-collector",
  "poststarthook/storage-readiness",
  "poststarthook/start-legacy-token-tracking-controller",
  "poststarthook/start-service-ip-repair-controllers",
  "poststarthook/rbac/bootstrap-roles",
  "poststarthook/scheduling/bootstrap-system-priority-classes",
  "poststarthook/priority-and-fairness-config-producer",
  "poststarthook/bootstrap-controller",
  "poststarthook/start-kubernetes-service-cidr-controller",
  "poststarthook/aggregator-reload-proxy-client-cert",
  "poststarthook/start-kube-aggregator-informers",
  "poststarthook/apiservice-status-local-available-controller",
  "poststarthook/apiservice-status-remote-available-controller",
  "poststarthook/apiservice-registration-controller",
  "poststarthook/apiservice-discovery-controller",
  "poststarthook/kube-apiserver-autoregistration",
  "autoregister-completion",
  "poststarthook/apiservice-openapi-controller",
  "poststarthook/apiservice-openapiv3-controller",
].map(done)

/** Checks of the process that always succeed: a blocked log would block responses too, and there is no loopback certificate. */
const ofProcess: readonly Check[] = ["log", "loopback-serving-certificate"].map(done)
const alive: readonly Check[] = [ping, ...ofProcess, etcd, ...startSteps]

const checks: Readonly<Record<string, readonly Check[]>> = dictionary({
  healthz: alive,
  livez: alive,
  readyz: [
    ping,
    done("log"),
    etcd,
    { name: "etcd-readiness", run: askStore },
    done("informer-sync"),
    ...startSteps,
    done("shutdown"), // no requests are served during shutdown
  ],
})

/** The paths of the checks, for the index of paths. */
export function healthPaths(): string[] {
  const paths = Object.entries(checks).flatMap(([endpoint, own]) => [
    `/${endpoint}`,
    ...own.map(({ name }) => `/${endpoint}/${name}`),
  ])
  return [...paths, sliPath]
}

/** Returns false if there is no such check. */
export async function serveHealth(ctx: RequestContext, response: ServerResponse): Promise<boolean> {
  const [, endpoint = "", ...rest] = ctx.info.path.split("/")
  const own = checks[endpoint] ?? []
  if (rest.length > 0) {
    const check = own.find(({ name }) => name === rest.join("/"))
    if (check === undefined) return false
    await serveOne(ctx, response, check)
  } else await serveAll(ctx, response, endpoint, own)
  return true
}

export const sliPath = "/metrics/slis"
const sliName = "kubernetes_healthcheck"

/** The current results as one gauge with a series per check. */
export async function serveServiceLevels(ctx: RequestContext, response: ServerResponse): Promise<boolean> {
  if (ctx.info.path !== sliPath) return false
  const lines = [`# HELP ${sliName} Whether a health check passes`, `# TYPE ${sliName} gauge`]
  for (const [type, own] of Object.entries(checks)) {
    for (const check of own) {
      const fault = await check.run(ctx)
      lines.push(`${sliName}{name="${check.name}",type="${type}"} ${fault === undefined ? 1 : 0}`)
    }
  }
  const text = `${lines.join("\n")}\n`
  const isGzip = acceptsGzipAtAll(ctx)
  const body = isGzip ? gzipSync(text) : Buffer.from(text) // a few lines: not worth another thread
  const headers = { "content-type": expositionTypeFor(ctx), ...(isGzip ? { "content-encoding": "gzip" } : {}) }
  response.writeHead(200, { ...headers, "content-length": body.length, "cache-control": "no-cache, private" }).end(body)
  return true
}

async function serveOne(ctx: RequestContext, response: ServerResponse, check: Check): Promise<void> {
  const fault = await check.run(ctx)
  // Users who may request a single check may also see why it fails.
  if (fault === undefined) {
    const headers = { "content-type": plainText, "content-length": 2, "cache-control": "no-cache, private" }
    response.writeHead(200, headers).end("ok")
  } else answer(response, 500, `internal server error: ${fault}\n`)
}

async function serveAll(
  ctx: RequestContext,
  response: ServerResponse,
  endpoint: string,
  own: readonly Check[],
): Promise<void> {
  const excluded = new Set(ctx.query.getAll("exclude"))
  const lines: string[] = []
  let failed = false
  for (const check of own) {
    if (excluded.delete(check.name)) {
      lines.push(`[+]${check.name} excluded: ok`)
      continue
    }
    const fault = await check.run(ctx)
    failed ||= fault !== undefined
    lines.push(fault === undefined ? `[+]${check.name} ok` : `[-]${check.name} failed: reason withheld`)
  }
  if (excluded.size > 0) {
    const names = [...excluded].sort(compareText).map(goQuote).join(",")
    lines.push(`warn: some health checks cannot be excluded: no matches for ${names}`)
  }
  lines.push(`${endpoint} check ${failed ? "failed" : "passed"}\n`)
  if (failed) answer(response, 500, lines.join("\n"))
  else answer(response, 200, ctx.query.has("verbose") ? lines.join("\n") : "ok")
}

export const plainText = "text/plain; charset=utf-8"

function answer(response: ServerResponse, code: number, text: string): void {
  response
    .writeHead(code, {
      "content-type": plainText,
      "content-length": Buffer.byteLength(text),
      "x-content-type-options": "nosniff",
      "cache-control": "no-cache, private",
    })
    .end(text)
}
