// The scale subresource of a custom resource: where its definition says the numbers are.

import type { KubeObject } from "../../apimachinery/object.ts"
import { badRequest, notFound } from "../../apimachinery/status.ts"
import type { Registry } from "../registry/rest.ts"
import { type Scalable, scaleSubresource } from "../registry/workloads/scale.ts"
import { findAll, parseJsonPath, plainFields } from "./json-path.ts"

export const customScale = scaleSubresource(scalableOf)

function scalableOf({ definition }: Registry): Scalable {
  const scale = definition.customResource?.scale
  if (scale === undefined) throw notFound(definition, "scale")
  const spec = plainFields(parseJsonPath(scale.specReplicasPath)) ?? []
  const status = parseJsonPath(scale.statusReplicasPath)
  const selector = scale.labelSelectorPath === undefined ? undefined : parseJsonPath(scale.labelSelectorPath)
  const specPath = parseJsonPath(scale.specReplicasPath)
  return {
    replicas(object) {
      const value = findAll(specPath, object)[0]
      // Upstream does not make up a number that is not there.
      if (value === undefined) throw badRequest(`the spec replicas field "${scale.specReplicasPath}" does not exist`)
      return numberOf(value)
    },
    currentReplicas: (object) => numberOf(findAll(status, object)[0]),
    selector: (object) => (selector === undefined ? "" : textOf(findAll(selector, object)[0])),
    setReplicas: (object, replicas) => setField(object, spec, replicas),
  }
}

function numberOf(value: unknown): number {
  return typeof value === "number" ? value : 0
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : ""
}

function setField(object: KubeObject, names: readonly string[], value: number): void {
  let at: Record<string, unknown> = object
  for (const name of names.slice(0, -1)) {
    const next = at[name]
    at = at[name] = typeof next === "object" && next !== null ? { ...next } : {}
  }
  const last = names.at(-1)
  if (last !== undefined) at[last] = value
}
