// Carries out the plan for the slices of one Service. Source: k8s.io/endpointslice/reconciler.go (finalize).

import { errorMessage } from "../../apimachinery/error-message.ts"
import type { EndpointSlice, Service } from "../../apimachinery/object.ts"
import { isNotFound, unexplained } from "../../apimachinery/status.ts"
import { isNamespaceTerminating } from "../../client/namespace-terminating.ts"
import { endpointSlices } from "../../client/resources.ts"
import type { KubeClient } from "../../client/rest.ts"
import { controllerReference } from "../pods/pod-control.ts"
import { type Endpoint, listed, type Plan } from "./plan.ts"
import type { SliceTracker } from "./slice-tracker.ts"
import { inPlaceOf } from "./slices.ts"
import { triggerTimeAnnotation } from "./trigger-times.ts"

interface SliceWrites {
  tenant: string
  client: KubeClient
  /** Is told of each write, so that the next sync waits until the cache shows it. */
  written: SliceTracker
  service: Service
  /** Of all its slices. */
  labels: Record<string, string>
  /** When the change happened that the plan follows, in the format of the annotation; undefined: nothing new. */
  trigger: string | undefined
}

/** Stops at the first failed write, which it throws; if the namespace is being deleted, unchanged. */
export async function carryOut(to: SliceWrites, steps: Plan): Promise<void> {
  // No new slices for a Service that is being deleted in the foreground: the garbage collector deletes its slices.
  const isGoing = to.service.metadata.deletionTimestamp !== undefined
  for (const slice of isGoing ? [] : steps.create) await createSlice(to, slice)
  for (const slice of steps.update) await updateSlice(to, slice)
  for (const slice of steps.delete) await deleteSlice(to, slice)
}

async function createSlice(to: SliceWrites, planned: Plan["create"][number]): Promise<void> {
  const { tenant, client, written, service } = to
  const created = client.create<EndpointSlice>(endpointSlices, newSlice(to, planned))
  written.wrote(tenant, await attempt(service, "create EndpointSlice", created))
}

function newSlice(
  { service, labels, trigger }: SliceWrites,
  { addressType, ports, endpoints }: Plan["create"][number],
): EndpointSlice {
  const { namespace = "", name = "" } = service.metadata
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: {
      namespace,
      generateName: `${name}-`,
      labels,
      ...(trigger === undefined ? {} : { annotations: { [triggerTimeAnnotation]: trigger } }),
      ownerReferences: [controllerReference(service, { apiVersion: "v1", kind: "Service" })],
    },
    addressType,
    endpoints: listed(endpoints),
    ports: listed(ports),
  }
}

async function updateSlice(to: SliceWrites, { slice, endpoints, ports }: Plan["update"][number]): Promise<void> {
  const { tenant, client, written, service } = to
  const changed =
    ports === undefined
      ? withEndpoints(to, slice, endpoints)
      : inPlaceOf(slice, newSlice(to, { addressType: slice.addressType, ports, endpoints }))
  const updated = client.update<EndpointSlice>(endpointSlices, changed)
  const what = `update ${slice.metadata.name ?? ""} EndpointSlice`
  written.wrote(tenant, await attempt(service, what, updated))
}

function withEndpoints({ labels, trigger }: SliceWrites, slice: EndpointSlice, endpoints: Endpoint[]): EndpointSlice {
  const { [triggerTimeAnnotation]: _, ...others } = slice.metadata.annotations ?? {}
  const annotations = trigger === undefined ? others : { ...others, [triggerTimeAnnotation]: trigger }
  const lists = { endpoints: listed(endpoints), ports: listed(slice.ports ?? []) }
  return { ...slice, metadata: { ...slice.metadata, labels, annotations }, ...lists }
}

async function deleteSlice({ tenant, client, written, service }: SliceWrites, slice: EndpointSlice): Promise<void> {
  const { namespace, name = "", uid } = slice.metadata
  const deleted = client.delete(endpointSlices, namespace, name, uid === undefined ? {} : { uid })
  const isGone = deleted.catch((error: unknown) => {
    if (!isNotFound(error)) throw error
  })
  await attempt(service, `delete ${name} EndpointSlice`, isGone)
  written.deleted(tenant, slice)
}

/** The message becomes an Event on the Service. */
async function attempt<T>({ metadata }: Service, what: string, call: Promise<T>): Promise<T> {
  try {
    return await call
  } catch (error) {
    if (isNamespaceTerminating(error)) throw error
    const { namespace = "", name = "" } = metadata
    const text = `failed to ${what} for Service ${namespace}/${name}: ${errorMessage(error)}`
    throw unexplained(text, { cause: error })
  }
}
