// The keys of objects in a control plane's store: /registry/<group>/<resource>/[<namespace>/]<name>, "core" for the group "". The
// group of a CustomResourceDefinition contains a dot, so it cannot be "core".

import { dictionary } from "../../../../apimachinery/dictionary.ts"
import { goQuote } from "../../../../apimachinery/go/quote.ts"
import { percentEncoded } from "../../../../apimachinery/go/text.ts"
import { unexplained } from "../../../../apimachinery/status.ts"

/** The prefix of all objects. */
export const everything = "/registry/"

/** The prefix of all objects of a group. */
export function groupPrefixOf(group: string): string {
  return `${everything}${group === "" ? "core" : group}/`
}

/** The prefix of the objects of a resource. */
export function storagePrefixOf(group: string, resource: string): string {
  return `${groupPrefixOf(group)}${resource}/`
}

/** The storage prefix of a key. */
export function storagePrefixIn(key: string): string {
  return key.slice(0, key.indexOf("/", key.indexOf("/", everything.length) + 1) + 1)
}

/** `namespace` is "" for cluster-scoped objects. */
export function storageKey(storagePrefix: string, namespace: string, name: string): string {
  return namespace === "" ? `${storagePrefix}${name}` : `${storagePrefix}${namespace}/${name}`
}

/** The name of the object of a key. */
export function nameInKey(key: string): string {
  return key.slice(key.lastIndexOf("/") + 1)
}

/**
 * A name as a part of a key. One with a slash would address the key of another object, and there is none for bytes that are no UTF-8:
 * they become what no object may be called.
 */
export function keyPart(name: string): string {
  return /[/\0]/.test(name) || !name.isWellFormed() ? percentEncoded(name, "") : name
}

/** Resources whose keys upstream does not begin with their own name. Source: kubeapiserver/default_storage_factory_builder.go. */
const upstreamPrefixes: Readonly<Record<string, string>> = dictionary({
  endpoints: "services/endpoints",
  ingresses: "ingress",
  replicationcontrollers: "controllers",
  services: "services/specs",
})

interface StoredResource {
  group: string
  resource: string
  /** Set for custom resources. */
  customResource?: object
}

/** Upstream's store refuses keys that would lead elsewhere. Source: k8s.io/apiserver/pkg/storage/interfaces.go (PrepareKey). */
export function checkNamespaceInKey(definition: StoredResource, namespace: string, name = ""): void {
  if (namespace !== "." && namespace !== "..") return
  const { group, resource, customResource } = definition
  const prefix = customResource === undefined ? (upstreamPrefixes[resource] ?? resource) : `${group}/${resource}`
  const key = [prefix, namespace, name].filter((part) => part !== "").map((part) => `/${part}`)
  throw unexplained(`invalid key: ${goQuote(key.join(""))}`)
}
