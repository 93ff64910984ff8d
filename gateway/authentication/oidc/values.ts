// Claims and users as values of expressions. Names of fields may be escaped at every level: claims.a__dot__b is claims["a.b"]. Source:
// k8s.io/apiserver/plugin/pkg/authenticator/token/oidc, pkg/cel/lazy.

import { JsonList, JsonMap } from "../../../apimachinery/cel/json-values.ts"
import { unescapeIdentifier } from "../../../apimachinery/cel/syntax/identifiers.ts"
import { CelError, type MapValue, type Value } from "../../../apimachinery/cel/values.ts"
import type { Json } from "../../../apimachinery/object.ts"
import { isObject, type JsonObject } from "../../../apimachinery/schema/json-object.ts"
import type { User } from "../../request/user.ts"

export const claimsValue = (claims: JsonObject): Value => new Fields("kubernetes.claims", claims)

export function userValue({ name, uid = "", groups, extra }: User): Value {
  return new Fields("kubernetes.UserInfo", {
    username: name,
    uid,
    groups: [...groups],
    extra: Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]])),
  })
}

/** As in Go, every number is a double. */
function valueOf(json: Json | undefined): Value {
  if (json === undefined || json === null) return null
  if (typeof json === "bigint") return Number(json)
  if (Array.isArray(json)) return new JsonList(json, valueOf)
  return isObject(json) ? new Entries(json) : json
}

class Entries extends JsonMap {
  constructor(json: JsonObject) {
    super(json, valueOf)
  }

  override get(key: Value): Value | undefined {
    return super.get(typeof key === "string" ? (unescapeIdentifier(key) ?? key) : key)
  }
}

/** A variable. Upstream iterates over the values of its fields, not their names, and it equals only itself. */
class Fields extends Entries {
  override readonly typeName: string

  constructor(typeName: string, json: JsonObject) {
    super(json)
    this.typeName = typeName
  }

  override get(key: Value): Value | undefined {
    if (typeof key !== "string") return new CelError("no such overload")
    return unescapeIdentifier(key) === undefined ? undefined : super.get(key)
  }

  override keys(): Value[] {
    return super.keys().map((key) => super.get(key) ?? null)
  }

  override equals(other: MapValue): boolean {
    return other === this
  }
}
