// Secrets. Service account token Secrets get type Opaque in super; otherwise super's token controller would replace the tokens.

import { tokenType } from "../../apimachinery/core/service-account-tokens.ts"
import type { Secret } from "../../apimachinery/object.ts"
import { secrets } from "../../client/resources.ts"
import { contentsChange, fixedMessage, isFixedOtherwise } from "./data-contents.ts"
import { isTokenSecret } from "./pod/tokens.ts"
import type { ResourceSync } from "./resource-sync.ts"

export const secret: ResourceSync<Secret> = {
  resource: secrets,
  kind: "Secret",
  // Secrets with pods' tokens (pod/tokens.ts) have the lifetime of their pods.
  tenantName: (superName, superObject) => (isTokenSecret(superObject) ? undefined : superName),
  toSuper: (object) => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: {},
    type: superType(object.type),
    ...contents(object),
  }),
  // Somebody may have replaced the copy by one of another type.
  outdated: (object, superObject) =>
    superType(object.type) !== superType(superObject.type) || isFixedOtherwise(object, superObject),
  remadeMessage: fixedMessage,
  changed: (object, superObject) => contentsChange(contents(object), contents(superObject)),
}

function superType(type: string | undefined): string {
  return type === undefined || type === tokenType ? "Opaque" : type
}

function contents({ data, immutable }: Secret): Pick<Secret, "data" | "immutable"> {
  return { ...(data === undefined ? {} : { data }), ...(immutable === undefined ? {} : { immutable }) }
}
