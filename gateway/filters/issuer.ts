// Serves the documents that other systems need to verify the service account tokens of a control plane.
// Source: OpenID Connect Discovery 1.0; k8s.io/kubernetes/pkg/serviceaccount/openidmetadata.go.

import type { JsonWebKey } from "node:crypto"
import { printJson } from "../../apimachinery/go/print.ts"
import { methodNotAllowed, noSuchPath } from "../../apimachinery/status.ts"
import type { ControlPlane } from "../control-plane/control-plane.ts"
import { checkAcceptOf } from "../endpoints/negotiation.ts"
import type { Filter } from "./chain.ts"

/** Paths that upstream routes to these documents, though there is nothing. */
const below = /^\/(\.well-known\/openid-configuration|openid\/v1\/jwks)\/./

export const serveIssuer: Filter = (request, response, next) => {
  const { info, controlPlane } = response.locals.state
  // As for every API path, a trailing slash is allowed.
  const path =
    info.path.startsWith("/.well-known/") || info.path.startsWith("/openid/") ? info.path.replace(/\/$/, "") : ""
  const body =
    path === "/.well-known/openid-configuration"
      ? { type: "application/json", value: configuration(controlPlane) }
      : path === "/openid/v1/jwks"
        ? { type: "application/jwk-set+json", value: keySet(controlPlane) }
        : undefined
  if (body === undefined) {
    if (below.test(info.path)) throw noSuchPath()
    return next()
  }
  if (request.method !== "GET") throw methodNotAllowed()
  checkAcceptOf(request.headers.accept, [body.type])
  response.setHeader("Content-Type", body.type)
  response.setHeader("Cache-Control", "public, max-age=3600")
  const text = printJson(body.value)
  response.setHeader("Content-Length", Buffer.byteLength(text))
  response.end(text)
}

function configuration({ trust, url }: ControlPlane): object {
  return {
    issuer: trust.issuer,
    jwks_uri: `${url}/openid/v1/jwks`,
    response_types_supported: ["id_token"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["ES256"],
  }
}

function keySet({ trust }: ControlPlane): object {
  const key: JsonWebKey = trust.serviceAccountKey.public.export({ format: "jwk" })
  return { keys: [{ use: "sig", kid: trust.serviceAccountKey.keyId, alg: "ES256", ...key }] }
}
