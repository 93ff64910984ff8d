// pods/binding: the scheduler assigns a pod to a node. Source: k8s.io/kubernetes/pkg/registry/core/pod/storage.

import { type FieldError, FieldPath, notSupportedText, required } from "../../../../apimachinery/field-errors.ts"
import type { KubeObject, Pod } from "../../../../apimachinery/object.ts"
import { badRequest, conflict, success, unexplained } from "../../../../apimachinery/status.ts"
import { pods } from "../../../../client/resources.ts"
import type { RequestContext } from "../../../request/context.ts"
import { builtIn, onBehalf, withoutAdmission } from "../../generic/internal-write.ts"
import type { Registry, WriteOptions } from "../../rest.ts"
import type { KindExtension, SubresourceHandler } from "../../strategy.ts"
import { setPodCondition } from "./conditions.ts"

interface Binding extends KubeObject {
  target?: { kind?: string; name?: string }
}

export const binding: SubresourceHandler = {
  keepsSystemFields: true,

  async create(ctx, registry, namespace, name, body, options, admit) {
    const wanted = body as Binding
    if (wanted.metadata.name !== name) {
      throw badRequest("name in URL does not match name in Binding object")
    }
    refuseInvalid(wanted)
    await admit.validate(body, undefined)
    return assign(ctx, registry, namespace, name, wanted, options)
  },
}

/** POST to bindings: the older form, with the pod's name only in the body. */
export const bindings: KindExtension = {
  async answer(ctx, object, options, validate) {
    const { name = "", namespace = "" } = object.metadata
    refuseInvalid(object)
    await validate()
    if (name === "") throw badRequest("Name parameter required.")
    return assign(ctx, builtIn(ctx, pods), namespace || (ctx.info.namespace ?? ""), name, object, options)
  },
}

async function assign(
  ctx: RequestContext,
  registry: Registry,
  namespace: string,
  name: string,
  wanted: Binding,
  options: WriteOptions,
): Promise<KubeObject> {
  await registry.update(
    onBehalf(ctx, { ...pods, namespace, name, subresource: "binding" }),
    namespace,
    name,
    (current) => bind(current as Pod, wanted, name),
    { ...options, subresource: "binding", managersKnown: true },
    withoutAdmission,
  )
  return { ...success(), code: 201 }
}

/** As upstream, these errors have no reason and are answered with 500. */
function refuseInvalid(wanted: Binding): void {
  const faults = validateBinding(wanted).map((error) => error.message())
  if (faults.length > 0) throw unexplained(faults.length === 1 ? (faults[0] ?? "") : `[${faults.join(", ")}]`)
}

function validateBinding({ target }: Binding): FieldError[] {
  const path = FieldPath.root("target")
  const errors: FieldError[] = []
  if (target?.kind && target.kind !== "Node") {
    errors.push(notSupportedText(path.child("kind"), target.kind, ["Node", "<empty>"]))
  }
  if (!target?.name) errors.push(required(path.child("name")))
  return errors
}

function bind(pod: Pod, wanted: Binding, name: string): Pod {
  const refuse = (detail: string) => conflict({ group: "", resource: "pods/binding" }, name, detail)
  for (const [title, field] of [
    ["UID", "uid"],
    ["ResourceVersion", "resourceVersion"],
  ] as const) {
    const { [field]: asked } = wanted.metadata
    const { [field]: own } = pod.metadata
    if (!asked || asked === own) continue
    const detail = `Precondition failed: ${title} in precondition: ${asked}, ${title} in object meta: ${own}`
    throw conflict({ group: "", resource: "pods" }, name, detail)
  }
  if (pod.metadata.deletionTimestamp !== undefined) {
    throw refuse(`pod ${name} is being deleted, cannot be assigned to a host`)
  }
  const spec = pod.spec ?? { containers: [] }
  if (spec.nodeName) throw refuse(`pod ${name} is already assigned to node "${spec.nodeName}"`)
  if ((spec.schedulingGates ?? []).length > 0) throw refuse(`pod ${name} has non-empty .spec.schedulingGates`)
  spec.nodeName = wanted.target?.name ?? ""
  pod.spec = spec
  delete pod.status?.nominatedNodeName
  if (wanted.metadata.annotations !== undefined) {
    pod.metadata.annotations = { ...pod.metadata.annotations, ...wanted.metadata.annotations }
  }
  if (wanted.metadata.labels !== undefined) {
    pod.metadata.labels = { ...pod.metadata.labels, ...wanted.metadata.labels }
  }
  setPodCondition(pod, { type: "PodScheduled", status: "True" })
  return pod
}
