// Discovery: the groups, versions and resources that a control plane serves. Legacy documents per path, and the aggregated document
// (KEP-3352), which newer clients read in one request each from /api and /apis.

import { createHash } from "node:crypto"
import type { ServerResponse } from "node:http"
import { parseGroupVersion, printGroupVersion } from "../../../apimachinery/object.ts"
import { noSuchPath } from "../../../apimachinery/status.ts"
import { pageNotFound } from "../../../apimachinery/text-errors.ts"
import type { ResourceDefinition } from "../../registry/rest.ts"
import type { SubresourceFacts } from "../../../apimachinery/schema/facts.ts"
import { protobufMediaType } from "../../../apimachinery/schema/protobuf/parse.ts"
import { compareVersions } from "../../../apimachinery/version-order.ts"
import type { AggregatedVersion } from "../../aggregation/aggregator.ts"
import { groupDiscovery, groupsOfAggregated, versionDiscovery } from "../../aggregation/discovery.ts"
import type { RequestContext } from "../../request/context.ts"
import { parseAccept } from "../accept.ts"
import { sendBytes } from "../responses/body-writer.ts"
import { bytesOfDocument, document } from "./documents.ts"
import { checkAccept, negotiate } from "../negotiation.ts"
import { printed } from "../responses/print.ts"
import { sendDocument } from "./send-document.ts"

/** Groups in kube-apiserver's order; custom groups follow by name. */
const groupOrder = [
  "apiregistration.k8s.io",
  "apps",
  "events.k8s.io",
  "authentication.k8s.io",
  "authorization.k8s.io",
  "autoscaling",
  "batch",
  "certificates.k8s.io",
  "networking.k8s.io",
  "policy",
  "rbac.authorization.k8s.io",
  "storage.k8s.io",
  "admissionregistration.k8s.io",
  "apiextensions.k8s.io",
  "scheduling.k8s.io",
  "coordination.k8s.io",
  "node.k8s.io",
  "discovery.k8s.io",
  "resource.k8s.io",
  "flowcontrol.apiserver.k8s.io",
]

/** Serves /api, /apis and the paths below. Throws NotFound if a group or version is not served. */
export async function serveDiscovery(ctx: RequestContext, response: ServerResponse): Promise<void> {
  const [root = "", ...rest] = ctx.info.path.split("/").filter((part) => part !== "")
  const core = root === "api"
  const definitions = ctx.controlPlane.resources.definitions()
  const elsewhere = core ? [] : await ctx.controlPlane.aggregator.versions()
  const passing = elsewhere.length > 0
  if (rest.length === 0) {
    const version = aggregatedVersion(ctx.headers["accept"] ?? "")
    if (version !== undefined) {
      const type = `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`
      const make = () => aggregated(ctx, core, version, elsewhere)
      const found = await document(ctx, `${root}?${version}`, core ? [] : passing ? "passing" : definitions, make)
      await sendDocument(ctx, response, found, { contentType: type })
      return
    }
  }
  const [group, version] = core ? ["", rest[0]] : rest
  const custom = group !== undefined && !core && isCustomGroup(ctx, group)
  if (!custom && (core || group !== undefined)) checkAccept(ctx.headers["accept"], false)
  const { format, pretty, contentType } = negotiate(ctx, "plain")
  // The normalized path: any number of slashes leads to the same document.
  const key = `${[root, ...rest].join("/")}?${format}${pretty ? "&pretty" : ""}`
  const about = core ? [] : definitions.filter((one) => group === undefined || one.group === group)
  // What names the versions of the core group also has the control plane's address.
  const passes = passing || (core && version === undefined)
  const make = () => printed(legacy(ctx, core, group, version, custom, elsewhere), { format, pretty })
  const found = await document(ctx, key, passes ? "passing" : about, make)
  sendBytes(ctx, response, 200, contentType, [await bytesOfDocument(ctx, found)])
}

/** The version of the aggregated document, if the client prefers it to all other forms. */
function aggregatedVersion(accept: string): "v2" | undefined {
  for (const { type, parameters } of parseAccept(accept)) {
    if (type !== "application/json" && type !== protobufMediaType && type !== "*/*") continue
    if (!parameters.has("as")) return undefined
    const isAggregated =
      parameters.get("g") === "apidiscovery.k8s.io" && parameters.get("as") === "APIGroupDiscoveryList"
    if (type === "application/json" && isAggregated && parameters.get("v") === "v2") return "v2"
  }
  return undefined
}

function isCustomGroup(ctx: RequestContext, group: string): boolean {
  const own = ctx.controlPlane.resources.definitions().filter((definition) => definition.group === group)
  return own.length > 0 && own.every(({ customResource }) => customResource !== undefined)
}

function legacy(
  ctx: RequestContext,
  core: boolean,
  group: string | undefined,
  version: string | undefined,
  custom: boolean,
  elsewhere: readonly AggregatedVersion[],
): unknown {
  const definitions = ctx.controlPlane.resources.definitions()
  if (core && version === undefined) {
    return {
      kind: "APIVersions",
      versions: ["v1"],
      serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress: new URL(ctx.controlPlane.url).host }],
    }
  }
  if (group === undefined) {
    return {
      kind: "APIGroupList",
      apiVersion: "v1",
      groups: [
        ...groupsOf(definitions).map(([name, own]) => groupDocument(name, own)),
        ...groupsElsewhere(definitions, elsewhere).map(([name, versions]) => groupDiscovery(name, versions)),
      ],
    }
  }
  if (version === undefined) {
    const own = definitions.filter((definition) => definition.group === group)
    if (own.length > 0) return { kind: "APIGroup", apiVersion: "v1", ...groupDocument(group, own) }
    const versions = groupsOfAggregated(elsewhere).get(group)
    if (versions === undefined) throw pageNotFound()
    return { kind: "APIGroup", apiVersion: "v1", ...groupDiscovery(group, versions) }
  }
  const served = definitions.filter((definition) => definition.group === group && definition.version === version)
  if (served.length === 0) {
    const isKnown = core || definitions.some((definition) => definition.group === group)
    throw isKnown && !custom ? noSuchPath() : pageNotFound()
  }
  return {
    kind: "APIResourceList",
    // The core group's list has never had an apiVersion.
    ...(group === "" ? {} : { apiVersion: "v1" }),
    groupVersion: printGroupVersion({ group, version }),
    resources: served.flatMap(resourceDocuments),
  }
}

/** All groups but the core group, with their definitions. */
function groupsOf(definitions: readonly ResourceDefinition[]): [group: string, own: ResourceDefinition[]][] {
  const rank = (group: string): number => (groupOrder.includes(group) ? groupOrder.indexOf(group) : groupOrder.length)
  const groups = [...Map.groupBy(definitions, ({ group }) => group)].filter(([group]) => group !== "")
  return groups.sort(([a], [b]) => rank(a) - rank(b) || (a < b ? -1 : 1))
}

/** The versions of a group, preferred ones first, with their definitions. */
function versionsOf(own: readonly ResourceDefinition[]): [version: string, of: ResourceDefinition[]][] {
  return [...Map.groupBy(own, ({ version }) => version)].sort(([a], [b]) => compareVersions(a, b))
}

function groupDocument(group: string, own: readonly ResourceDefinition[]) {
  const versions = versionsOf(own).map(([version]) => ({
    groupVersion: printGroupVersion({ group, version }),
    version,
  }))
  return { name: group, versions, preferredVersion: versions[0] }
}

const optionalLists = ({ shortNames, categories }: ResourceDefinition) => ({
  ...(shortNames.length === 0 ? {} : { shortNames }),
  ...(categories.length === 0 ? {} : { categories }),
})

/**
 * Notifies storage migrators of a change of the stored version. Source:
 * k8s.io/apiserver/pkg/endpoints/discovery/storageversionhash.go.
 */
function storageVersionHash(definition: ResourceDefinition): string | undefined {
  const { storageVersionHash: known = "", storageVersion, kind, customResource } = definition
  // A built-in kind may be stored in a version that is not served.
  if (known !== "") return known
  const { group, version } = parseGroupVersion(storageVersion)
  if (customResource?.unserved?.(version) !== undefined) return undefined
  return createHash("sha256").update(`${group}/${version}/${kind}`).digest().subarray(0, 8).toString("base64")
}

const terminatingVerbs = ["delete", "deletecollection", "get", "list", "watch"]

/** While the objects of a definition are being deleted, it says only how to see and delete them. */
function shownVerbs({ verbs, customResource }: ResourceDefinition): readonly string[] {
  return customResource?.terminating === true ? terminatingVerbs : verbs
}

function resourceDocuments(definition: ResourceDefinition): unknown[] {
  const { resource, singular, namespaced, kind, subresources } = definition
  const verbs = shownVerbs(definition)
  const own = {
    name: resource,
    singularName: singular,
    namespaced,
    kind,
    verbs,
    ...optionalLists(definition),
    ...(verbs.includes("watch") ? { storageVersionHash: storageVersionHash(definition) } : {}),
  }
  return [
    ...(verbs.length === 0 ? [] : [own]),
    ...subresources.map((sub) => ({
      name: `${resource}/${sub.name}`,
      singularName: "",
      namespaced,
      ...(isForeign(definition, sub) ? { group: sub.group, version: sub.version } : {}),
      kind: sub.kind,
      verbs: sub.verbs,
    })),
  ]
}

const isForeign = (definition: ResourceDefinition, sub: SubresourceFacts): boolean =>
  sub.group !== definition.group || sub.version !== definition.version

/** Groups that are served only by aggregated APIs. */
function groupsElsewhere(
  definitions: readonly ResourceDefinition[],
  elsewhere: readonly AggregatedVersion[],
): [group: string, versions: readonly AggregatedVersion[]][] {
  const own = new Set(definitions.map(({ group }) => group))
  return [...groupsOfAggregated(elsewhere)].filter(([group]) => !own.has(group))
}

function aggregated(
  ctx: RequestContext,
  core: boolean,
  version: string,
  elsewhere: readonly AggregatedVersion[],
): unknown {
  const definitions = ctx.controlPlane.resources.definitions()
  const groups = core ? [["", definitions.filter(({ group }) => group === "")] as const] : groupsOf(definitions)
  return {
    kind: "APIGroupDiscoveryList",
    apiVersion: `apidiscovery.k8s.io/${version}`,
    metadata: {},
    items: [
      ...groups.map(([group, own]) => ({
        metadata: group === "" ? {} : { name: group },
        versions: versionsOf(own).map(([version, of]) => ({
          version,
          resources: of.map(aggregatedResource),
          freshness: "Current",
        })),
      })),
      ...groupsElsewhere(definitions, elsewhere).map(([group, versions]) => ({
        metadata: { name: group },
        versions: versions.map(versionDiscovery),
      })),
    ],
  }
}

function aggregatedResource(definition: ResourceDefinition): unknown {
  const { group, version, resource, singular, namespaced, kind, subresources, customResource } = definition
  const verbs = shownVerbs(definition)
  // Omits group and version for built-in kinds of the group itself, but not for custom ones.
  const responseKind = (of: { group: string; version: string; kind: string }) =>
    customResource === undefined && of.group === group && of.version === version
      ? { group: "", version: "", kind: of.kind }
      : { group: of.group, version: of.version, kind: of.kind }
  return {
    resource,
    responseKind: responseKind({ group, version, kind }),
    scope: namespaced ? "Namespaced" : "Cluster",
    singularResource: singular,
    verbs,
    ...optionalLists(definition),
    ...(subresources.length === 0
      ? {}
      : {
          subresources: subresources.map((sub) => ({
            subresource: sub.name,
            responseKind: responseKind(sub),
            verbs: sub.verbs,
          })),
        }),
  }
}
