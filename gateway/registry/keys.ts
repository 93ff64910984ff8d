// Where objects lie in a control plane's store: /registry/<group>/<resource>/[<namespace>/]<name>, "core" for the group "".
// A CustomResourceDefinition's group has a dot, so it never meets "core".

/** What all objects lie below. */
export const everything = "/registry/"

export function storagePrefixOf(group: string, resource: string): string {
  return `${everything}${group === "" ? "core" : group}/${resource}/`
}

/** The storage prefix of what lies at this key. */
export function storagePrefixIn(key: string): string {
  return key.slice(0, key.indexOf("/", key.indexOf("/", everything.length) + 1) + 1)
}

/** `namespace` is "" for what has none. */
export function storageKey(storagePrefix: string, namespace: string, name: string): string {
  return namespace === "" ? `${storagePrefix}${name}` : `${storagePrefix}${namespace}/${name}`
}
