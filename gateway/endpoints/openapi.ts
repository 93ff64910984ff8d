// /openapi/v2 and /openapi/v3: made by apimachinery/schema from the schemas served. Every path of the v3 index carries a hash of
// what it leads to; a client that has it may keep it for good.

import type { ServerResponse } from "node:http"
import { notAcceptable, noSuchPath } from "../../apimachinery/status.ts"
import { openAPIV2, openAPIV3, openAPIV3Index, openAPIV3Path } from "../../apimachinery/schema/openapi.ts"
import { encodeOpenAPIV2, openAPIV2ProtobufTypes } from "../../apimachinery/schema/openapi-protobuf.ts"
import type { RequestContext } from "../request/context.ts"
import { document, sendDocument } from "./documents.ts"

const [v2Protobuf, v2ProtobufAnswer] = openAPIV2ProtobufTypes

export function serveOpenAPI(ctx: RequestContext, response: ServerResponse): void {
  const [, version, ...rest] = ctx.info.path.split("/").filter((part) => part !== "")
  const definitions = ctx.controlPlane.resources.definitions()
  if (version === "v2" && rest.length === 0) {
    serveV2(ctx, response)
    return
  }
  if (version !== "v3") throw noSuchPath()
  if (rest.length === 0) {
    // Custom resources change the hashes; with built-in kinds alone they are the same everywhere.
    const generation = definitions.some(({ customResource }) => customResource !== undefined)
      ? `${ctx.controlPlane.uid}/${ctx.controlPlane.resources.generation}`
      : 0
    sendDocument(
      ctx,
      response,
      document(ctx, ctx.info.path, () => openAPIV3Index(definitions, generation)),
      "application/json",
    )
    return
  }
  const path = rest.join("/")
  const found = definitions.find((definition) => openAPIV3Path(definition) === path)
  if (found === undefined) throw noSuchPath()
  sendDocument(
    ctx,
    response,
    document(ctx, ctx.info.path, () => openAPIV3(found, definitions)),
    "application/json",
  )
}

function serveV2(ctx: RequestContext, response: ServerResponse): void {
  const definitions = ctx.controlPlane.resources.definitions()
  for (const clause of (ctx.headers["accept"] ?? "*/*").split(",")) {
    const type = (clause.split(";")[0] ?? "").trim()
    if (type === v2Protobuf || type === v2ProtobufAnswer) {
      sendDocument(
        ctx,
        response,
        document(ctx, "/openapi/v2?protobuf", () => encodeOpenAPIV2(openAPIV2(definitions))),
        v2ProtobufAnswer,
      )
      return
    }
    if (type === "application/json" || type === "*/*" || type === "application/*") {
      sendDocument(
        ctx,
        response,
        document(ctx, "/openapi/v2", () => openAPIV2(definitions)),
        "application/json",
      )
      return
    }
  }
  throw notAcceptable(["application/json", v2Protobuf])
}
