// Columns of services, endpoints, ingresses and related kinds. Source: k8s.io/kubernetes/pkg/printers/internalversion.

import type * as models from "@kubernetes/client-node"
import type { Endpoints, EndpointSlice, KubeObject, Service, Wire } from "../../../apimachinery/object.ts"
import { toLower } from "../../../apimachinery/texts.ts"
import type { TableColumn } from "./table-column.ts"
import type { LabelSelector } from "../validation/selectors.ts"
import { age, column, name, text, wideText } from "./column.ts"
import { printLabelSelector, printLabels } from "./layout.ts"

type Ingress = KubeObject & { spec?: Wire<models.V1IngressSpec>; status?: Wire<models.V1IngressStatus> }
type IngressClass = KubeObject & { spec?: Wire<models.V1IngressClassSpec> }
type NetworkPolicy = KubeObject & { spec?: { podSelector?: LabelSelector } }
type ServiceCIDR = KubeObject & { spec?: { cidrs?: string[] } }
type IPAddress = KubeObject & {
  spec?: { parentRef?: { group?: string; resource?: string; namespace?: string; name?: string } }
}

export const serviceColumns: readonly TableColumn[] = [
  name,
  text<Service>("Type", ({ spec }) => spec?.type ?? ""),
  text<Service>("Cluster-IP", ({ spec }) => spec?.clusterIPs?.[0] ?? "<none>"),
  text<Service>("External-IP", externalIP),
  text<Service>("Port(s)", ({ spec }) => (spec?.ports ?? []).map(printPort).join(",") || "<none>"),
  age,
  wideText<Service>("Selector", ({ spec }) => printLabels(spec?.selector)),
]

function printPort({ port, nodePort, protocol }: NonNullable<NonNullable<Service["spec"]>["ports"]>[number]): string {
  return nodePort ? `${port}:${nodePort}/${protocol}` : `${port}/${protocol}`
}

function externalIP({ spec, status }: Service): string {
  const own = spec?.externalIPs ?? []
  if (spec?.type === "ExternalName") return spec.externalName ?? ""
  // The blank object of a bookmark has no type.
  if (!spec?.type) return "<unknown>"
  if (spec.type !== "LoadBalancer") return own.join(",") || "<none>"
  return [...balancers(status?.loadBalancer?.ingress), ...own].join(",") || "<pending>"
}

function balancers(ingress: readonly { ip?: string; hostname?: string }[] | undefined): string[] {
  return [
    ...new Set((ingress ?? []).map(({ ip, hostname }) => ip || hostname || "").filter((item) => item !== "")),
  ].sort()
}

const shownEndpoints = 3

export const endpointsColumns: readonly TableColumn[] = [
  name,
  text<Endpoints>("Endpoints", ({ subsets }) => {
    if ((subsets ?? []).length === 0) return "<none>"
    const counts = (subsets ?? []).map(({ addresses = [], ports = [] }) => addresses.length * Math.max(ports.length, 1))
    const count = counts.reduce((sum, one) => sum + one, 0)
    return shorten(firstPairs(subsets ?? []), shownEndpoints, count)
  }),
  age,
]

/** Every port of a subset belongs to every address, which may be too many to be listed. */
function firstPairs(subsets: NonNullable<Endpoints["subsets"]>): string[] {
  const pairs: string[] = []
  for (const { addresses = [], ports = [] } of subsets) {
    for (const { port } of ports.length === 0 ? [{ port: undefined }] : ports) {
      for (const { ip } of addresses) {
        if (pairs.length === shownEndpoints) return pairs
        pairs.push(port === undefined ? ip : ip.includes(":") ? `[${ip}]:${port}` : `${ip}:${port}`)
      }
    }
  }
  return pairs
}

export const endpointSliceColumns: readonly TableColumn[] = [
  name,
  text<EndpointSlice>("AddressType", ({ addressType }) => addressType),
  text<EndpointSlice>("Ports", ({ ports }) => {
    const list = (ports ?? []).map(({ port, name: portName }) => (port === undefined ? (portName ?? "") : String(port)))
    return shorten(list, shownEndpoints) || "<unset>"
  }),
  text<EndpointSlice>("Endpoints", ({ endpoints }) => {
    const list = (endpoints ?? []).flatMap(({ addresses }) => addresses ?? [])
    return shorten(list, shownEndpoints) || "<unset>"
  }),
  age,
]

/** `count`: if the list is only the beginning. */
function shorten(list: readonly string[], max: number, count = list.length): string {
  const shown = list.slice(0, max).join(",")
  return count > max ? `${shown} + ${count - max} more...` : shown
}

const shownHosts = 3

export const ingressColumns: readonly TableColumn[] = [
  name,
  text<Ingress>("Class", ({ spec }) => spec?.ingressClassName ?? "<none>"),
  text<Ingress>("Hosts", ({ spec }) => {
    const rules = spec?.rules ?? []
    const named = rules.filter(({ host }) => host !== undefined && host !== "")
    if (named.length === 0) return "*"
    const shown = named.slice(0, shownHosts)
    const hosts = shown.map(({ host }) => host).join(",")
    // Counts all rules after the last one shown, even those without a host.
    const last = shown[shownHosts - 1]
    const more = last !== undefined && rules.indexOf(last) < rules.length - 1
    return more ? `${hosts} + ${rules.length - shownHosts} more...` : hosts
  }),
  text<Ingress>("Address", ({ status }) => balancers(status?.loadBalancer?.ingress).join(",")),
  text<Ingress>("Ports", ({ spec }) => ((spec?.tls ?? []).length > 0 ? "80, 443" : "80")),
  age,
]

export const ingressClassColumns: readonly TableColumn[] = [
  column<IngressClass>(
    "Name",
    "string",
    ({ metadata }) => {
      const marked = metadata.annotations?.["ingressclass.kubernetes.io/is-default-class"] === "true"
      return `${metadata.name ?? ""}${marked ? " (default)" : ""}`
    },
    { format: "name" },
  ),
  text<IngressClass>("Controller", ({ spec }) => spec?.controller ?? ""),
  text<IngressClass>("Parameters", ({ spec }) => {
    const parameters = spec?.parameters
    if (parameters === undefined) return "<none>"
    return `${parameters.kind}${parameters.apiGroup === undefined ? "" : `.${parameters.apiGroup}`}/${parameters.name}`
  }),
  age,
]

export const networkPolicyColumns: readonly TableColumn[] = [
  name,
  text<NetworkPolicy>("Pod-Selector", ({ spec }) => printLabelSelector(spec?.podSelector)),
  age,
]

export const serviceCIDRColumns: readonly TableColumn[] = [
  name,
  text<ServiceCIDR>("CIDRs", ({ spec }) => (spec?.cidrs ?? []).join(",")),
  age,
]

export const ipAddressColumns: readonly TableColumn[] = [
  name,
  text<IPAddress>("ParentRef", ({ spec }) => {
    const parent = spec?.parentRef
    if (parent === undefined) return "<none>"
    const resource = parent.group ? `${parent.resource}.${parent.group}` : (parent.resource ?? "")
    return [toLower(resource), ...(parent.namespace ? [parent.namespace] : []), parent.name ?? ""].join("/")
  }),
  { ...age, untitled: true },
]
