// An object and its managers, changed by applies and updates as kube-apiserver changes them, without one: for tests.

import { copyJson } from "../../copy.ts"
import type { Json } from "../../object.ts"
import { compileSchema } from "../../schema/structural/compile.ts"
import { StatusError } from "../../status.ts"
import { apply } from "../apply.ts"
import { TypeErrors } from "../configuration.ts"
import { isEmpty, type FieldSet, paths } from "../field-set.ts"
import { type ManagedFieldsEntry, type Managers, managersOf } from "../managers.ts"
import { type MergeType, mergeTypeOf } from "../merge-type.ts"
import { printElement } from "../path-element.ts"
import { type Change, reconcileManagers, recordUpdate } from "../ownership.ts"
import type { Versions } from "../versions.ts"

export type Fields = { [name: string]: Json }

/** From an openAPIV3Schema. */
export function typeOfSchema(schema: Fields): MergeType {
  return mergeTypeOf(compileSchema(schema))
}

/** What a version looks like, and how an object in the first version becomes one in it and back. */
export interface TestVersion {
  type: MergeType
  from(first: Fields): Fields
  back(object: Fields): Fields
}

export class State {
  live: Fields = {}
  managers: Managers = new Map()
  /** "v1" is what the object is kept in. A version that is deleted is not served any more. */
  readonly versions: Map<string, TestVersion>
  #writes = 0

  constructor(type: MergeType, others: Record<string, TestVersion> = {}) {
    const same = (object: Fields): Fields => object
    this.versions = new Map(Object.entries({ v1: { type, from: same, back: same }, ...others }))
  }

  /** "ok", "invalid: …", or the fields in conflict. */
  async apply(
    manager: string,
    configuration: Fields,
    options: { force?: boolean; version?: string } = {},
  ): Promise<string> {
    const { force = false, version = "v1" } = options
    const live = this.#in(version, this.live)
    try {
      const applied = await apply({
        live,
        blank: {},
        managers: this.managers,
        configuration: copyJson(configuration),
        writer: this.#writer(manager, version),
        force,
        versions: this.#versions(),
        reset: () => undefined,
      })
      if (applied.object !== undefined) this.live = this.#back(version, applied.object as Fields | null)
      this.managers = applied.managers
      return "ok"
    } catch (error) {
      if (error instanceof TypeErrors) return `invalid: ${error.message}`
      if (!(error instanceof StatusError)) throw error
      return (error.status.details?.causes ?? []).map(({ field = "" }) => field).join(" ")
    }
  }

  update(manager: string, object: Fields, version = "v1"): void {
    const [before, after] = [this.live, this.#back(version, copyJson(object))]
    const changeIn = (to: string): Change | undefined => {
      const found = this.versions.get(to)
      return found && { before: this.#in(to, before), after: this.#in(to, after), type: found.type }
    }
    const managers = new Map(this.managers)
    reconcileManagers(managers, (to) => this.versions.get(to)?.type)
    recordUpdate(managers, this.#writer(manager, version), changeIn, () => undefined)
    this.live = after
    this.managers = managers
  }

  /** Manager → the fields it manages, printed. */
  owned(): Record<string, string[]> {
    return Object.fromEntries([...this.managers.values()].map((entry) => [nameOf(entry), printSet(entry.fieldsV1)]))
  }

  sets(): Record<string, FieldSet> {
    return Object.fromEntries([...this.managers.values()].map((entry) => [nameOf(entry), entry.fieldsV1]))
  }

  setManagers(entries: readonly ManagedFieldsEntry[]): void {
    this.managers = managersOf(entries)
  }

  #writer(manager: string, apiVersion: string) {
    const now = new Date(Date.UTC(2026, 0, 1, 0, 0, this.#writes++)).toISOString().replace(".000", "")
    return { manager, apiVersion, subresource: "", now }
  }

  #versions(): Versions {
    return {
      typeIn: (version) => this.versions.get(version)?.type,
      convert: (object, from, to) => this.#in(to, this.#back(from, object as Fields | null)),
    }
  }

  /** null: an object nothing is left of, which no real one can become. */
  #in(version: string, first: Fields | null): Fields {
    return this.versions.get(version)?.from(copyJson(first ?? {})) ?? {}
  }

  #back(version: string, object: Fields | null): Fields {
    return this.versions.get(version)?.back(copyJson(object ?? {})) ?? {}
  }
}

function nameOf({ manager = "" }: ManagedFieldsEntry): string {
  return manager
}

export function printSet(set: FieldSet): string[] {
  return isEmpty(set) ? [] : [...paths(set)].map((path) => path.map(printElement).join(""))
}
