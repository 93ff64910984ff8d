// The paths of a server that do not belong to a resource: discovery, its version, and the documents for verifying its tokens.

import { dictionary } from "../../dictionary.ts"
import type { JsonObject } from "../json-object.ts"
import type { Operation } from "./operations.ts"
import { camelGroup, capital, mediaTypes, type Paths, tagOf } from "./paths.ts"

/** Creates a reference to a response type by its name. */
export type Refer = (type: string) => JsonObject

const meta = "io.k8s.apimachinery.pkg.apis.meta.v1"
const versions = "get available API versions"

/** The documents of version 3 by path; version 2 combines all of them. */
export const plainDocuments: Readonly<Record<string, (paths: Paths, refer: Refer) => void>> = dictionary({
  ".well-known/openid-configuration": (paths) =>
    paths.set("/.well-known/openid-configuration/", [
      readKeys({
        id: "getServiceAccountIssuerOpenIDConfiguration",
        tag: "WellKnown",
        description: "get service account issuer OpenID configuration, also known as the 'OIDC discovery doc'",
        types: ["application/json"],
      }),
    ]),
  api: (paths, refer) =>
    paths.set("/api/", [
      read({ id: "getCoreAPIVersions", tag: "core", description: versions, schema: refer(`${meta}.APIVersions`) }),
    ]),
  apis: (paths, refer) =>
    paths.set("/apis/", [
      read({ id: "getAPIVersions", tag: "apis", description: versions, schema: refer(`${meta}.APIGroupList`) }),
    ]),
  "openid/v1/jwks": (paths) =>
    paths.set("/openid/v1/jwks/", [
      readKeys({
        id: "getServiceAccountIssuerOpenIDKeyset",
        tag: "openid",
        description: "get service account issuer OpenID JSON Web Key Set (contains public token verification keys)",
        types: ["application/jwk-set+json"],
      }),
    ]),
  version: (paths, refer) =>
    paths.set("/version/", [
      read({
        id: "getCodeVersion",
        tag: "version",
        description: "get the version information for this server",
        types: ["application/json"],
        schema: refer("io.k8s.apimachinery.pkg.version.Info"),
      }),
    ]),
})

/** Adds "/apis/apps/": the document "apis/apps". */
export function addGroup(paths: Paths, group: string, refer: Refer): void {
  const id = `get${camelGroup(group)}APIGroup`
  const schema = refer(`${meta}.APIGroup`)
  paths.set(`/apis/${group}/`, [read({ id, tag: tagOf({ group }), description: "get information of a group", schema })])
}

/** Adds "/apis/apps/v1/": the resources of a group version, in its own document. */
export function addGroupVersion(paths: Paths, about: { group: string; version: string }, refer: Refer): void {
  const { group, version } = about
  const path = group === "" ? `/api/${version}/` : `/apis/${group}/${version}/`
  const id = `get${camelGroup(group)}${capital(version)}APIResources`
  const schema = refer(`${meta}.APIResourceList`)
  paths.set(path, [read({ id, tag: tagOf(about), description: "get available resources", schema })])
}

interface Read {
  id: string
  tag: string
  description: string
  types?: readonly string[]
  /** Undefined for plain text. */
  schema?: JsonObject
}

function read({ id, tag, description, types = mediaTypes, schema }: Read): Operation {
  const about = { method: "get", description, id, tag, parameters: [] } as const
  return { ...about, answers: { 200: schema }, consumes: types, produces: types }
}

/** The keys for verifying tokens. Unlike for other paths, upstream lists no request media types. */
function readKeys(about: Read): Operation {
  return { ...read(about), consumes: [] }
}
