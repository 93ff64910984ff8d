// Discovery: the groups, versions and resources that a control plane serves. Legacy documents per path, and the aggregated document
// (KEP-3352), which newer clients read in one request each from /api and /apis.

import { createHash } from "node:crypto"
import type { ServerResponse } from "node:http"
import { parseGroupVersion, printGroupVersion } from "../../../apimachinery/object.ts"
import { noSuchPath } from "../../../apimachinery/status.ts"
import { pageNotFound } from "../../../apimachinery/text-errors.ts"
import type { ResourceDefinition } from "../../registry/rest.ts"
import type { SubresourceFacts } from "../../../apimachinery/schema/facts.ts"
import type { AggregatedVersion } from "../../aggregation/aggregator.ts"
import { versionDiscovery } from "../../aggregation/discovery.ts"
import { inOrder, ownRank, type Ranked, serviceName } from "../../aggregation/priorities.ts"
import type { RequestContext } from "../../request/context.ts"
import { sendBytes } from "../responses/body-writer.ts"
import { isOfAggregator } from "../routes.ts"
import { checkAccept, checkBodyType, chosen, negotiate } from "../negotiation.ts"
import { printAggregated } from "./aggregated-form.ts"
import { bytesOfDocument, document, etagOf, Pieces } from "./documents.ts"
import { printing } from "../responses/print.ts"
import { type ListedGroups, listedGroups, servedVersions } from "./listed-groups.ts"
import { sendDocument } from "./send-document.ts"

/** Serves /api, /apis and the paths below. Throws NotFound if a group or version is not served. */
export async function serveDiscovery(ctx: RequestContext, response: ServerResponse): Promise<void> {
  const [root = "", ...rest] = ctx.info.path.split("/").filter((part) => part !== "")
  const core = root === "api"
  const definitions = ctx.controlPlane.resources.definitions()
  const { aggregator } = ctx.controlPlane
  const [group, version] = core ? ["", rest[0]] : rest
  const custom = group !== undefined && !core && isCustomGroup(ctx, group)
  if (!custom && isRouted(ctx, core, group, version)) {
    checkBodyType(ctx.headers["content-type"])
    checkAccept(ctx.headers["accept"], false)
  }
  const whole = rest.length === 0 && ctx.info.path !== "/apis/" ? chosen(ctx, "aggregated") : undefined
  if (whole !== undefined) {
    const { format, pretty, contentType } = whole
    const elsewhere = core ? [] : await aggregator.versions()
    const make = async (): Promise<Buffer | Pieces> => {
      const list = aggregated(ctx, core, elsewhere)
      const plain = await printAggregated(list, { format: "json", pretty: false })
      // All forms of the document have one ETag.
      return format === "json" && !pretty
        ? plain
        : new Pieces([await printAggregated(list, whole, ctx.aside)], etagOf(plain))
    }
    const key = `${root}?aggregated&${format}${pretty ? "&pretty" : ""}`
    const found = await document(ctx, key, core ? [] : elsewhere.length > 0 ? "passing" : definitions, make)
    await sendDocument(ctx, response, found, { contentType })
    return
  }
  const listed = listedGroups(definitions, core ? [] : await aggregator.services())
  const shown = legacy(ctx, core, group, version, custom, listed)
  const { format, pretty, contentType } = negotiate(ctx, "plain")
  // The normalized path: any number of slashes leads to the same document.
  const key = `${[root, ...rest].join("/")}?${format}${pretty ? "&pretty" : ""}`
  const about = core ? [] : definitions.filter((one) => group === undefined || one.group === group)
  // What names the versions of the core group also has the control plane's address.
  const passes = version === undefined && (core || !listed.isUsual)
  const make = () => printing(shown(), { format, pretty }, ctx.aside)
  const found = await document(ctx, key, passes ? "passing" : about, make)
  sendBytes(ctx, response, 200, contentType, [await bytesOfDocument(ctx, found)])
}

/** What kube-aggregator serves has no route of its own. */
function isRouted({ controlPlane, info }: RequestContext, core: boolean, group?: string, version?: string): boolean {
  const definitions = controlPlane.resources.definitions()
  if (version !== undefined) return definitions.some((one) => one.group === group && one.version === version)
  const isServed = group !== undefined && definitions.some((one) => one.group === group)
  return core || (isServed && !isOfAggregator(info.path, group))
}

function isCustomGroup(ctx: RequestContext, group: string): boolean {
  const own = ctx.controlPlane.resources.definitions().filter((definition) => definition.group === group)
  return own.length > 0 && own.every(({ customResource }) => customResource !== undefined)
}

/** Throws NotFound, whatever form the client accepts; otherwise returns what makes the document. */
function legacy(
  ctx: RequestContext,
  core: boolean,
  group: string | undefined,
  version: string | undefined,
  custom: boolean,
  { groups }: ListedGroups,
): () => unknown {
  const definitions = ctx.controlPlane.resources.definitions()
  if (core && version === undefined) {
    const serverAddressByClientCIDRs = [{ clientCIDR: "0.0.0.0/0", serverAddress: new URL(ctx.controlPlane.url).host }]
    return () => ({ kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs })
  }
  if (group === undefined) {
    return () => ({
      kind: "APIGroupList",
      apiVersion: "v1",
      groups: [...groups].map(([name, versions]) => groupDocument(name, versions)),
    })
  }
  if (version === undefined) {
    const versions = groups.get(group) ?? servedVersions(definitions, group)
    if (versions === undefined) throw pageNotFound()
    return () => ({ kind: "APIGroup", apiVersion: "v1", ...groupDocument(group, versions) })
  }
  const served = definitions.filter((definition) => definition.group === group && definition.version === version)
  if (served.length === 0) {
    const isKnown = core || definitions.some((definition) => definition.group === group)
    throw isKnown && !custom ? noSuchPath() : pageNotFound()
  }
  return () => ({
    kind: "APIResourceList",
    // The core group's list has never had an apiVersion.
    ...(group === "" ? {} : { apiVersion: "v1" }),
    groupVersion: printGroupVersion({ group, version }),
    resources: served.flatMap(resourceDocuments),
  })
}

function groupDocument(group: string, all: readonly Ranked[]) {
  const versions = all.map(({ version }) => ({ groupVersion: printGroupVersion({ group, version }), version }))
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

function aggregated(ctx: RequestContext, core: boolean, elsewhere: readonly AggregatedVersion[]): unknown {
  const definitions = ctx.controlPlane.resources.definitions().filter(({ group }) => (group === "") === core)
  const own = [...Map.groupBy(definitions, serviceName).values()].map((of) => {
    const { group = "", version = "" } = of[0] ?? {}
    const shown = { version, resources: of.map(aggregatedResource), freshness: "Current" }
    return { ...ownRank(group, version), shown }
  })
  const names = new Set(own.map(serviceName))
  const others = elsewhere.filter((one) => !names.has(serviceName(one)))
  const all = [...own, ...others.map((one) => ({ ...one, shown: versionDiscovery(one) }))]
  return {
    kind: "APIGroupDiscoveryList",
    apiVersion: "apidiscovery.k8s.io/v2",
    metadata: {},
    items: [...inOrder(all, ({ group }) => group)].map(([group, versions]) => ({
      metadata: group === "" ? {} : { name: group },
      versions: versions.map(({ shown }) => shown),
    })),
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
