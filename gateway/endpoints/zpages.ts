// /statusz and /flagz: information about the server and its flags, for debugging. Returned as text, which differs between responses
// so that nobody parses it, or as an object of config.k8s.io if the client requests one. Source:
// k8s.io/apiserver/pkg/server/statusz and flagz.

import { dictionary } from "../../apimachinery/dictionary.ts"
import { randomInt } from "node:crypto"
import type { ServerResponse } from "node:http"
import { notAcceptable } from "../../apimachinery/status.ts"
import { pageNotFound } from "../../apimachinery/text-errors.ts"
import type { RequestContext } from "../request/context.ts"
import { parseAccept } from "./accept.ts"
import { sendBytes } from "./responses/body-writer.ts"
import { forPeople, type TextFormat } from "./negotiation.ts"
import { printed } from "./responses/print.ts"
import { versionInfo } from "./version.ts"

const component = "apiserver"
const group = "config.k8s.io"
/** Version → whether it is deprecated. */
const versions: Readonly<Record<string, boolean>> = dictionary({ v1beta1: false, v1alpha1: true })
const types: readonly [string, TextFormat | "text"][] = [
  ["application/json", "json"],
  ["application/yaml", "yaml"],
  ["text/plain", "text"],
]
const delimiters = [":", ": ", "=", " "]

export const zPagePaths: readonly string[] = ["/flagz", "/statusz"]

/** `paths`: all served paths. */
export function serveStatusz(ctx: RequestContext, response: ServerResponse, paths: readonly string[]): void {
  const { goVersion, gitVersion, emulationMajor, emulationMinor } = versionInfo
  const startedAt = ctx.observer?.startedAt ?? Date.now()
  const seconds = Math.max(0, Math.floor((Date.now() - startedAt) / 1000))
  const fields = {
    startTime: `${new Date(startedAt).toISOString().slice(0, -".000Z".length)}Z`,
    uptimeSeconds: seconds,
    goVersion,
    binaryVersion: gitVersion.replace(/^v/, ""),
    emulationVersion: `${emulationMajor}.${emulationMinor}`,
    paths: forDebugging(paths),
  }
  const lines: [string, string][] = [
    ["Started", unixDate(startedAt)],
    ["Up", uptime(seconds)],
    ["Go version", fields.goVersion],
    ["Binary version", fields.binaryVersion],
    ["Emulation version", fields.emulationVersion],
    ["Paths", fields.paths.join(" ")],
  ]
  const delimiter = anyDelimiter()
  const text = lines.map(([name, value]) => `${name}${delimiter} ${value}\n`).join("")
  serve(ctx, response, { name: "statusz", kind: "Statusz", fields, text: `\n${text}` })
}

/** A control plane is not started with flags. */
export function serveFlagz(ctx: RequestContext, response: ServerResponse): void {
  serve(ctx, response, { name: "flagz", kind: "Flagz", fields: {}, text: "" })
}

interface Page {
  name: string
  kind: string
  fields: object
  text: string
}

function serve(ctx: RequestContext, response: ServerResponse, { name, kind, fields, text }: Page): void {
  if (ctx.info.path !== `/${name}`) throw pageNotFound()
  const { format, version } = chosen(ctx.headers["accept"], kind)
  if (format === "text") {
    const body = Buffer.from(`\n${component} ${name}\n${warning}\n${text}`)
    return sendBytes(ctx, response, 200, "text/plain; charset=utf-8", [body])
  }
  if (versions[version] === true)
    ctx.warn(`This version of the ${name} endpoint is deprecated. Please use a newer version.`)
  const object = { kind, apiVersion: `${group}/${version}`, metadata: { name: component }, ...fields }
  const type = `application/${format};g=${group};v=${version};as=${kind}`
  sendBytes(ctx, response, 200, type, [
    printed(object, { format, pretty: forPeople(ctx.headers, ctx.query.get("pretty")) }),
  ])
}

const warning =
  "Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only."

/** Text has no kind; other forms require one. Throws NotAcceptable. */
function chosen(accept: string | undefined, kind: string): { format: TextFormat | "text"; version: string } {
  if (accept === undefined || accept.trim() === "") return { format: "text", version: "" }
  for (const { type, parameters } of parseAccept(accept)) {
    if (parameters.get("stream") || parameters.get("sv")) continue
    const [as, wanted, version] = ["as", "g", "v"].map((name) => parameters.get(name))
    const isPlain = as === undefined && wanted === undefined && version === undefined
    const isObject = as === kind && wanted === group && version !== undefined && Object.hasOwn(versions, version)
    for (const [offered, format] of types) {
      const isTaken = type === offered || type === "*/*" || type === `${offered.split("/")[0] ?? ""}/*`
      if (isTaken && (format === "text" ? isPlain : isObject)) return { format, version: version ?? "" }
    }
  }
  throw notAcceptable(types.map(([type]) => type))
}

function anyDelimiter(): string {
  return delimiters[randomInt(delimiters.length)] ?? ""
}

const documents: ReadonlySet<string> = new Set(["apis", "api", "openid", "openapi", ".well-known", ""])

/** The first segment of each path that is not an API document. */
function forDebugging(paths: readonly string[]): string[] {
  const steps = new Set(paths.map((path) => path.split("/")[1] ?? ""))
  return [...steps]
    .filter((step) => !documents.has(step))
    .toSorted()
    .map((step) => `/${step}`)
}

function uptime(seconds: number): string {
  const two = (count: number): string => String(count % 60).padStart(2, "0")
  return `${Math.floor(seconds / 3600)} hr ${two(Math.floor(seconds / 60))} min ${two(seconds)} sec`
}

/** "Mon Jan  2 15:04:05 UTC 2006" */
function unixDate(time: number): string {
  const [day = "", date = "", month = "", year = "", clock = ""] = new Date(time).toUTCString().split(/,? /)
  return `${day} ${month} ${date.replace(/^0/, " ")} ${clock} UTC ${year}`
}
