// The keys of objects in a control plane's store: /registry/<group>/<resource>/[<namespace>/]<name>, "core" for the group "". The
// group of a CustomResourceDefinition contains a dot, so it cannot be "core".

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
