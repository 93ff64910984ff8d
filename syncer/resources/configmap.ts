// ConfigMaps. Each namespace's CA bundle has another name in super, which stores its own CA under the original name.

import type { ConfigMap } from "../../apimachinery/object.ts"
import { superConfigMapName, tenantConfigMapName } from "../../apimachinery/tenancy.ts"
import { configMaps } from "../../client/resources.ts"
import { contentsChange, fixedMessage, isFixedOtherwise } from "./data-contents.ts"
import type { ResourceSync } from "./resource-sync.ts"

export const configMap: ResourceSync<ConfigMap> = {
  resource: configMaps,
  kind: "ConfigMap",
  superName: superConfigMapName,
  tenantName: tenantConfigMapName,
  toSuper: (object) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: {}, ...contents(object) }),
  outdated: isFixedOtherwise,
  remadeMessage: fixedMessage,
  changed: (object, superObject) => contentsChange(contents(object), contents(superObject)),
}

function contents({ data, binaryData, immutable }: ConfigMap): Pick<ConfigMap, "data" | "binaryData" | "immutable"> {
  return {
    ...(data === undefined ? {} : { data }),
    ...(binaryData === undefined ? {} : { binaryData }),
    ...(immutable === undefined ? {} : { immutable }),
  }
}
