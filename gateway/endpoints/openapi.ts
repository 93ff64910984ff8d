// /openapi/v2 and /openapi/v3: made by apimachinery/schema from the schemas served. Every path of the v3 index carries a hash of
// what it leads to; a client that has it may keep it for good.

import type { ServerResponse } from "node:http"
import { notAcceptable, pageNotFound } from "../../apimachinery/status.ts"
import { loadDescriptions } from "../../apimachinery/schema/descriptions.ts"
import { openAPIV2, openAPIV3, openAPIV3Index, openAPIV3Path } from "../../apimachinery/schema/openapi.ts"
import { encodeOpenAPIV2, openAPIV2ProtobufTypes } from "../../apimachinery/schema/openapi-protobuf.ts"
import type { RequestContext } from "../request/context.ts"
import { document, sendDocument } from "./documents.ts"

const [v2Protobuf, v2ProtobufAnswer] = openAPIV2ProtobufTypes

export async function serveOpenAPI(ctx: RequestContext, response: ServerResponse): Promise<void> {
  const [, version, ...rest] = ctx.info.path.split("/").filter((part) => part !== "")
  if (version === "v2" && rest.length === 0) await serveV2(ctx, response)
  else if (version !== "v3") throw pageNotFound()
  else if (rest.length === 0) await serveIndex(ctx, response)
  else await serveGroupVersion(ctx, response, rest.join("/"))
}

async function serveIndex(ctx: RequestContext, response: ServerResponse): Promise<void> {
  const definitions = ctx.controlPlane.resources.definitions()
  // Custom resources change the hashes; with built-in kinds alone they are the same everywhere.
  const generation = (path: string): string =>
    definitions.some((one) => one.customResource !== undefined && openAPIV3Path(one) === path)
      ? `${ctx.controlPlane.uid}/${ctx.controlPlane.resources.generation}`
      : ""
  const elsewhere = await ctx.controlPlane.aggregator.openAPIPaths()
  const make = () => {
    const { paths } = openAPIV3Index(definitions, generation)
    return { paths: { ...paths, ...elsewhere } }
  }
  const about = Object.keys(elsewhere).length > 0 ? "passing" : definitions
  const index = await document(ctx, ctx.info.path, about, make)
  await sendDocument(ctx, response, index, "application/json")
}

async function serveGroupVersion(ctx: RequestContext, response: ServerResponse, path: string): Promise<void> {
  const definitions = ctx.controlPlane.resources.definitions()
  const own = definitions.filter((definition) => openAPIV3Path(definition) === path)
  const [first] = own
  if (first === undefined) {
    response.writeHead(404).end() // as upstream: without a word
    return
  }
  const found = await document(ctx, ctx.info.path, own, async () => openAPIV3(first, own, await loadDescriptions()))
  // Who names the hash of the index has what never changes.
  const caching = ctx.query.has("hash") ? "public, immutable" : "no-cache, private"
  await sendDocument(ctx, response, found, "application/json", caching)
}

async function serveV2(ctx: RequestContext, response: ServerResponse): Promise<void> {
  const definitions = ctx.controlPlane.resources.definitions()
  const make = async () => openAPIV2(definitions, await loadDescriptions())
  for (const clause of (ctx.headers["accept"] ?? "*/*").split(",")) {
    const type = (clause.split(";")[0] ?? "").trim()
    if (type === v2Protobuf || type === v2ProtobufAnswer) {
      const encode = async () => encodeOpenAPIV2(await make())
      const found = await document(ctx, "/openapi/v2?protobuf", definitions, encode)
      await sendDocument(ctx, response, found, v2ProtobufAnswer)
      return
    }
    if (type === "application/json" || type === "*/*" || type === "application/*") {
      await sendDocument(ctx, response, await document(ctx, "/openapi/v2", definitions, make), "application/json")
      return
    }
  }
  throw notAcceptable(["application/json", v2Protobuf])
}
