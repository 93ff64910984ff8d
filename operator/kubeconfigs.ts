// Notices when the kubeconfig of a tenant is removed from its root namespace, alone or with the namespace: nothing else tells the
// operator, and whoever uses the tenant waits for it.

import type { KubeObject } from "../apimachinery/object.ts"
import { adminKubeconfigSecret } from "../apimachinery/tenancy.ts"
import type { Clock } from "../client/clock.ts"
import { reflect } from "../client/informers/reflector.ts"
import type { Log } from "../client/log.ts"
import { secrets } from "../client/resources.ts"
import type { KubeClient } from "../client/rest.ts"

interface KubeconfigsOptions {
  superClient: KubeClient
  /** The namespaces that should have one: it may be removed before the first list. */
  expected: () => Iterable<string>
  /** Called with the namespace. */
  removed: (namespace: string) => void
  clock: Clock
  log: Log
  signal: AbortSignal
}

/** Resolves when the signal ends. Keeps the names of the namespaces that have one, and nothing of what is in it. */
export function followKubeconfigs(options: KubeconfigsOptions): Promise<void> {
  const { superClient, expected, removed, clock, log, signal } = options
  const present = new Set<string>()
  /** Of the list that is being delivered. */
  let listed: Set<string> | undefined
  const placeOf = ({ metadata: { namespace = "" } }: KubeObject): string => namespace
  return reflect({
    client: superClient,
    resource: secrets,
    // The operator may list only Secrets of this name (manifests/rbac/operator.yaml).
    fieldSelector: `metadata.name=${adminKubeconfigSecret}`,
    metadataOnly: true,
    clock,
    log,
    signal,
    sink: {
      restarted() {
        listed = new Set()
      },
      changed(type, object) {
        const place = placeOf(object)
        if (type !== "DELETED") {
          present.add(place)
          listed?.add(place)
        } else if (present.delete(place)) removed(place)
      },
      synced() {
        const found = listed
        listed = undefined
        if (found === undefined) return
        for (const place of new Set([...present, ...expected()])) {
          if (found.has(place)) continue
          present.delete(place)
          removed(place)
        }
      },
    },
  })
}
