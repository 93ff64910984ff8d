// Keeps the initial flow schemas and priority levels: deleted ones are created again, and their specs are restored unless an annotation
// says that they are their users'. Objects that claim to be initial ones but are not are deleted. Source:
// k8s.io/kubernetes/pkg/registry/flowcontrol/ensurer.

import { parseGoBool } from "../../../apimachinery/go/booleans.ts"
import type { KubeObject } from "../../../apimachinery/object.ts"
import { bootstrapObjects } from "../../../apimachinery/schema/facts.ts"
import { isAlreadyExists, isConflict, isNotFound } from "../../../apimachinery/status.ts"
import type { KubeClient, Resource } from "../../../client/rest.ts"
import { nameInKey, storagePrefixOf } from "../generic/storage/keys.ts"
import { semanticEqual } from "../validation/equality.ts"

const annotation = "apf.kubernetes.io/autoupdate-spec"
const fieldManager = "api-priority-and-fairness-config-producer-v1"
/** Their specs belong to the server, whatever the annotation says. */
const mandatory: ReadonlySet<string> = new Set(["exempt", "catch-all"])

export const flowGroup = "flowcontrol.apiserver.k8s.io"
const resourceOf = (resource: string): Resource => ({ group: flowGroup, version: "v1", resource, namespaced: false })
export const flowSchemas = resourceOf("flowschemas")
const priorityLevels = resourceOf("prioritylevelconfigurations")
export const schemasPrefix = storagePrefixOf(flowGroup, flowSchemas.resource)
export const levelsPrefix = storagePrefixOf(flowGroup, priorityLevels.resource)

type FlowConfiguration = KubeObject & { spec?: { exempt?: object } }
/** By key; a level precedes the schemas that need it. */
export type InitialFlows = ReadonlyMap<string, FlowConfiguration>

let known: InitialFlows | undefined

export function initialFlows(): InitialFlows {
  known ??= new Map(
    bootstrapObjects()
      .filter(({ apiVersion }) => apiVersion === `${flowGroup}/v1`)
      .toSorted((a, b) => b.kind.localeCompare(a.kind))
      .map((object) => [(object.kind === "FlowSchema" ? schemasPrefix : levelsPrefix) + object.metadata.name, object]),
  )
  return known
}

/** Whether an object must be changed or deleted. */
export function isToCorrect(object: FlowConfiguration, initial: FlowConfiguration | undefined): boolean {
  return initial === undefined ? isOfServer(object) === true : revised(object, initial) !== undefined
}

/** Creates, changes or deletes the object of the key if it must be. What others write meanwhile is looked at again. */
export async function correctFlow(client: KubeClient, key: string, initial: FlowConfiguration | undefined) {
  const resource = key.startsWith(schemasPrefix) ? flowSchemas : priorityLevels
  const name = nameInKey(key)
  try {
    const current = await client.get<FlowConfiguration>(resource, undefined, name).catch((error: unknown) => {
      if (!isNotFound(error)) throw error
      return undefined
    })
    if (current === undefined) {
      if (initial !== undefined) await client.create(resource, fresh(initial), { fieldManager })
    } else if (initial !== undefined) {
      const wanted = revised(current, initial)
      if (wanted !== undefined) await client.update(resource, wanted, { fieldManager })
    } else if (isToCorrect(current, initial)) await client.delete(resource, undefined, name)
  } catch (error) {
    if (!isAlreadyExists(error) && !isConflict(error) && !isNotFound(error)) throw error
  }
}

function fresh({ apiVersion, kind, metadata: { name, annotations }, spec }: FlowConfiguration): FlowConfiguration {
  return {
    apiVersion,
    kind,
    metadata: { ...(name && { name }), ...(annotations && { annotations }) },
    ...(spec && { spec }),
  }
}

/** undefined: it may remain as it is. */
function revised(current: FlowConfiguration, initial: FlowConfiguration): FlowConfiguration | undefined {
  const { name = "", generation } = current.metadata
  const said = isOfServer(current)
  const isRestored = mandatory.has(name) || (said ?? generation === 1)
  const spec = isRestored && !semanticEqual(current.spec, expectedSpec(current, initial)) ? initial.spec : current.spec
  if (said === isRestored && spec === current.spec) return undefined
  const annotations = {
    ...current.metadata.annotations,
    ...(said === isRestored ? {} : { [annotation]: String(isRestored) }),
  }
  return { ...current, metadata: { ...current.metadata, annotations }, ...(spec && { spec }) }
}

/** The shares of the level of exempt requests may be changed. */
function expectedSpec({ spec: own }: FlowConfiguration, { metadata, spec }: FlowConfiguration): object | undefined {
  return metadata.name === "exempt" && own?.exempt !== undefined && spec?.exempt !== undefined
    ? { ...spec, exempt: own.exempt }
    : spec
}

/** What the annotation says; undefined if it says nothing. */
const isOfServer = ({ metadata }: KubeObject): boolean | undefined =>
  parseGoBool(metadata.annotations?.[annotation] ?? "")
