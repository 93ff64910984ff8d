// The paths of a server that are about no resource: discovery, its version, and what others need to trust its tokens.

import { dictionary } from "../../dictionary.ts"
import type { JsonObject } from "../json-object.ts"
import type { Operation } from "./operations.ts"
import { camelGroup, capital, mediaTypes, type Paths, tagOf } from "./paths.ts"

/** A reference to a type of answers, by its name. */
export type Refer = (type: string) => JsonObject

const meta = "io.k8s.apimachinery.pkg.apis.meta.v1"

/** What a document of version 3 is about; version 2 is about all at once. */
export const plainDocuments: Readonly<Record<string, (paths: Paths, refer: Refer) => void>> = dictionary({
  ".well-known/openid-configuration": (paths) =>
    paths.set("/.well-known/openid-configuration/", [
      { ...read("getServiceAccountIssuerOpenIDConfiguration", "WellKnown", ["application/json"]), consumes: [] },
    ]),
  api: (paths, refer) =>
    paths.set("/api/", [read("getCoreAPIVersions", "core", mediaTypes, refer(`${meta}.APIVersions`))]),
  apis: (paths, refer) =>
    paths.set("/apis/", [read("getAPIVersions", "apis", mediaTypes, refer(`${meta}.APIGroupList`))]),
  "openid/v1/jwks": (paths) =>
    paths.set("/openid/v1/jwks/", [
      { ...read("getServiceAccountIssuerOpenIDKeyset", "openid", ["application/jwk-set+json"]), consumes: [] },
    ]),
  version: (paths, refer) => {
    const info = refer("io.k8s.apimachinery.pkg.version.Info")
    paths.set("/version/", [read("getCodeVersion", "version", ["application/json"], info)])
  },
})

/** "/apis/apps/": the document "apis/apps". */
export function addGroup(paths: Paths, group: string, refer: Refer): void {
  const id = `get${camelGroup(group)}APIGroup`
  paths.set(`/apis/${group}/`, [read(id, tagOf({ group }), mediaTypes, refer(`${meta}.APIGroup`))])
}

/** "/apis/apps/v1/": the resources of a group version; in its own document. */
export function addGroupVersion(paths: Paths, about: { group: string; version: string }, refer: Refer): void {
  const { group, version } = about
  const path = group === "" ? `/api/${version}/` : `/apis/${group}/${version}/`
  const id = `get${camelGroup(group)}${capital(version)}APIResources`
  paths.set(path, [read(id, tagOf(about), mediaTypes, refer(`${meta}.APIResourceList`))])
}

/** `schema` undefined: text. */
function read(id: string, tag: string, types: readonly string[], schema?: JsonObject): Operation {
  return { method: "get", id, tag, parameters: [], answers: { 200: schema }, consumes: types, produces: types }
}
