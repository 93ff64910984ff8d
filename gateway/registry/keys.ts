// Where objects lie in a control plane's store: /registry/<group>/<resource>/[<namespace>/]<name>, "core" for the group "".
// A CustomResourceDefinition's group has a dot, so it never meets "core".

export function storagePrefixOf(group: string, resource: string): string {
  return `/registry/${group === "" ? "core" : group}/${resource}/`
}

/** `namespace` is "" for what has none. */
export function storageKey(storagePrefix: string, namespace: string, name: string): string {
  return namespace === "" ? `${storagePrefix}${name}` : `${storagePrefix}${namespace}/${name}`
}
