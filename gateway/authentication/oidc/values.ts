// Claims and users as values of expressions. Names of fields may be escaped at every level: claims.a__dot__b is claims["a.b"]. Source:
// k8s.io/apiserver/plugin/pkg/authenticator/token/oidc, pkg/cel/lazy.

import { unescapeIdentifier } from "../../../apimachinery/cel/syntax/identifiers.ts"
import { CelError, ListValue, MapValue, type Value } from "../../../apimachinery/cel/values.ts"
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
  if (Array.isArray(json)) return new Items(json)
  return isObject(json) ? new Entries(json) : json
}

class Items extends ListValue {
  readonly #json: readonly Json[]

  constructor(json: readonly Json[]) {
    super()
    this.#json = json
  }

  get size(): number {
    return this.#json.length
  }

  at(index: number): Value {
    return valueOf(this.#json[index])
  }
}

class Entries extends MapValue {
  readonly typeName: string = "map"
  readonly #json: JsonObject

  constructor(json: JsonObject) {
    super()
    this.#json = json
  }

  get size(): number {
    return Object.keys(this.#json).length
  }

  get(key: Value): Value | undefined {
    if (typeof key !== "string") return undefined
    const name = unescapeIdentifier(key) ?? key
    return Object.hasOwn(this.#json, name) ? valueOf(this.#json[name]) : undefined
  }

  keys(): Value[] {
    return Object.keys(this.#json)
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
