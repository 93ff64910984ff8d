// Reads what a server of an aggregated API serves: from its aggregated document of discovery, else from the list of the group version,
// with which its availability has been checked. Source: k8s.io/kube-aggregator/pkg/apiserver/handler_discovery.go.

import type { Json } from "../../apimachinery/object.ts"
import type { APIService } from "../../client/api-services.ts"
import { type ListedResource, resourcesIn, resourcesOf } from "./listed-resources.ts"
import type { RemoteAnswer, RemoteGet } from "./remote.ts"

const kind = "g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
const types = [kind, kind.replace("v=v2", "v=v2beta1")].map((parameters) => `application/json;${parameters}`)

interface Served {
  resources: readonly ListedResource[]
  /** The length of the document that says so. */
  bytes: number
}

/** The list of the group version. */
export interface VersionAnswer {
  code: number
  document?: Json | undefined
  bytes: number
}

/** Returns undefined if the server does not say it, or not now. */
export async function readServed(
  get: (request: Pick<RemoteGet, "path" | "headers">) => Promise<RemoteAnswer>,
  { spec }: APIService,
  list: VersionAnswer,
): Promise<Served | undefined> {
  const { group = "", version = "" } = spec ?? {}
  const answer = await get({ path: "/apis", headers: { accept: types.join() } }).catch(() => undefined)
  if (answer === undefined || answer.code === 503) return undefined
  if (answer.code === 200 && isAggregated(answer.type)) {
    return served(resourcesIn(answer.document, group, version), answer.bytes)
  }
  return list.code === 200 ? served(resourcesOf(list.document), list.bytes) : undefined
}

const served = (resources: readonly ListedResource[] | undefined, bytes: number): Served | undefined =>
  resources === undefined ? undefined : { resources, bytes }

/** In any order, and with others. */
function isAggregated(type: string): boolean {
  const parts = new Set(type.split(";").map((part) => part.trim()))
  return types.some((one) => one.split(";").every((part) => parts.has(part)))
}
