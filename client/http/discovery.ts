// Lists all resources that an API server serves: by aggregated discovery (two requests), or by requests per group if the server
// does not support it. Source: KEP-3352 (aggregated discovery), k8s.io/api/apidiscovery/v2.

import { parseGroupVersion, printGroupVersion } from "../../apimachinery/object.ts"
import type { TransportRequest } from "./transport.ts"
import { inPreferredVersions, scaleIn } from "../discovered-resources.ts"
import type { DiscoveredResource } from "../rest.ts"

type Call = <T>(request: TransportRequest) => Promise<T>

const aggregated =
  "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList," +
  "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"

/** Go's servers write a list that is empty as null, where it may not be left out. */
type List<T> = T[] | null | undefined

interface AggregatedList {
  kind: "APIGroupDiscoveryList"
  items?: List<{
    metadata: { name?: string }
    versions?: List<{
      version: string
      /** "Stale" if the aggregated API server does not respond. */
      freshness?: string
      resources?: List<{
        resource: string
        scope: "Namespaced" | "Cluster"
        verbs?: List<string>
        responseKind?: { kind: string } | null
        subresources?: List<{ subresource: string; responseKind?: { kind: string } | null }>
      }>
    }>
  }>
}

interface GroupList {
  kind: "APIGroupList"
  groups?: List<{
    name: string
    versions?: List<{ groupVersion: string; version: string }>
    preferredVersion?: { groupVersion: string }
  }>
}

interface Versions {
  kind: "APIVersions"
  versions?: List<string>
}

interface ResourceList {
  resources?: List<{ name: string; namespaced: boolean; kind: string; verbs?: List<string> }>
}

export async function discoverOverHttp(call: Call): Promise<DiscoveredResource[]> {
  const found: DiscoveredResource[] = []
  for (const root of ["/api", "/apis"]) {
    const answer = await call<AggregatedList | GroupList | Versions>({
      method: "GET",
      path: root,
      headers: { accept: aggregated },
    })
    found.push(...(answer.kind === "APIGroupDiscoveryList" ? read(answer) : await ask(call, root, answer)))
  }
  // Versions are in the order of preference.
  return inPreferredVersions(found)
}

/** Servers without aggregated discovery do not report it. */
export async function unavailableOverHttp(call: Call): Promise<string[]> {
  const answer = await call<AggregatedList | GroupList>({
    method: "GET",
    path: "/apis",
    headers: { accept: aggregated },
  })
  if (answer.kind !== "APIGroupDiscoveryList") return []
  return each(answer.items).flatMap(({ metadata: { name: group = "" }, versions }) =>
    each(versions)
      .filter(({ freshness }) => freshness === "Stale")
      .map(({ version }) => printGroupVersion({ group, version })),
  )
}

function read(list: AggregatedList): DiscoveredResource[] {
  return each(list.items).flatMap(({ metadata: { name: group = "" }, versions }) =>
    each(versions).flatMap(({ version, freshness, resources }) =>
      each(freshness === "Stale" ? [] : resources).map(({ resource, scope, verbs, responseKind, subresources }) => ({
        group,
        version,
        resource,
        namespaced: scope === "Namespaced",
        kind: responseKind?.kind ?? "",
        verbs: each(verbs),
        ...scaleIn(each(subresources).map((of) => ({ name: of.subresource, kind: of.responseKind?.kind ?? "" }))),
      })),
    ),
  )
}

async function ask(call: Call, root: string, answer: GroupList | Versions): Promise<DiscoveredResource[]> {
  const groupVersions =
    answer.kind === "APIVersions"
      ? each(answer.versions)
      : each(answer.groups).flatMap(({ versions, preferredVersion }) => {
          const all = each(versions).map(({ groupVersion }) => groupVersion)
          const preferred = preferredVersion?.groupVersion
          return preferred === undefined ? all : [preferred, ...all.filter((other) => other !== preferred)]
        })
  const found: DiscoveredResource[] = []
  for (const groupVersion of groupVersions) {
    const { group, version } = parseGroupVersion(groupVersion)
    const list = await call<ResourceList>({ method: "GET", path: `${root}/${groupVersion}` })
    const scaled = new Set(each(list.resources).flatMap(({ name, kind }) => (kind === "Scale" ? [name] : [])))
    for (const { name, namespaced, kind, verbs } of each(list.resources)) {
      if (name.includes("/")) continue
      const scale = scaled.has(`${name}/scale`) ? { hasScale: true } : {}
      found.push({ group, version, resource: name, namespaced, kind, verbs: each(verbs), ...scale })
    }
  }
  return found
}

const each = <T>(list: List<T>): T[] => list ?? []
