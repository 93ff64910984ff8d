// Enforces the levels in the labels of namespaces on pods, and warns on writes of workloads that create pods. Source:
// k8s.io/pod-security-admission/admission, k8s.io/kubernetes/plugin/pkg/admission/security/podsecurity. There are no exemptions,
// and a namespace without labels has no restrictions: kube-apiserver's defaults.

import { dictionary } from "../../../../apimachinery/dictionary.ts"
import {
  type Container,
  controllerOf,
  type Namespace,
  type Pod,
  type PodTemplateSpec,
  printGroupResource,
} from "../../../../apimachinery/object.ts"
import { aggregateMessage } from "../../../../apimachinery/error-message.ts"
import type { FieldError } from "../../../../apimachinery/field-errors.ts"
import { byName } from "../../../../apimachinery/repeats.ts"
import { invalid } from "../../../../apimachinery/status.ts"
import { namespaces, pods } from "../../../../client/resources.ts"
import type { RequestContext } from "../../../request/context.ts"
import type { AdmissionAttributes, AdmissionPlugin } from "../../chain.ts"
import { find, listAll } from "../lookup.ts"
import { objectAs, refuse } from "../refuse.ts"
import { faultsOf } from "./checks.ts"
import { compareLevels, isSame, labelPrefix, type LevelVersion, type Policy, policyOf, printLevel } from "./policy.ts"
import type { CheckedPod, Fault } from "./words.ts"

/** Limits of the check of existing pods when a namespace gets a stricter level. */
const maxPodsChecked = 3000
const maxCheckMs = 1000
/** Pods checked before others may have their turn. */
const podsAtOnce = 50

/** All other subresources that write to a pod's spec are checked. */
const ignoredSubresources = new Set(["exec", "attach", "binding", "eviction", "log", "portforward", "proxy", "status"])

interface Templated {
  template?: PodTemplateSpec
  spec?: { template?: PodTemplateSpec; jobTemplate?: { spec?: { template?: PodTemplateSpec } } }
}

/** The pod template of workloads. */
const templateOf: Readonly<Record<string, (object: Templated) => PodTemplateSpec | undefined>> = dictionary({
  replicationcontrollers: ({ spec }) => spec?.template,
  podtemplates: ({ template }) => template,
  "replicasets.apps": ({ spec }) => spec?.template,
  "deployments.apps": ({ spec }) => spec?.template,
  "statefulsets.apps": ({ spec }) => spec?.template,
  "daemonsets.apps": ({ spec }) => spec?.template,
  "jobs.batch": ({ spec }) => spec?.template,
  "cronjobs.batch": ({ spec }) => spec?.jobTemplate?.spec?.template,
})

export const podSecurity: AdmissionPlugin = {
  concerns({ operation, resource, subresource }) {
    if (operation !== "CREATE" && operation !== "UPDATE") return false
    const name = printGroupResource(resource)
    if (name === "pods") return !ignoredSubresources.has(subresource)
    return subresource === "" && (name === "namespaces" || Object.hasOwn(templateOf, name))
  },

  async validate(ctx, attributes) {
    const name = printGroupResource(attributes.resource)
    if (name === "namespaces") return validateNamespace(ctx, attributes)
    const namespace = await find<Namespace>(ctx, namespaces, "", attributes.namespace)
    const { policy, errors } = policyOf(namespace?.metadata.labels)
    const isLax = errors.length === 0 && isNone(policy.audit) && isNone(policy.warn)
    if (name === "pods") {
      // Upstream names the newest version of this level, whatever the labels say.
      if (isLax && isNone(policy.enforce)) annotate(ctx, "enforce-policy", "privileged:latest")
      else if (isSignificant(attributes)) {
        reportErrors(ctx, errors)
        checkPod(ctx, attributes, policy)
      }
      return
    }
    if (isLax) return
    const template = templateOf[name]?.(objectAs(attributes) as Templated)
    if (template?.spec === undefined) return
    reportErrors(ctx, errors)
    reportViolations(ctx, { metadata: template.metadata ?? {}, spec: template.spec }, policy)
  },
}

function reportErrors(ctx: RequestContext, errors: readonly FieldError[]): void {
  if (errors.length === 0) return
  const message = aggregateMessage(errors.map((error) => error.message()))
  annotate(ctx, "error", `Failed to parse policy: ${message}`)
}

const isNone = ({ level }: LevelVersion): boolean => level === "privileged"

function annotate(ctx: RequestContext, name: string, text: string): void {
  ctx.annotate?.(labelPrefix + name, text)
}

/** For updates of pods: only changes of images and new ephemeral containers matter. */
function isSignificant({ operation, object, current }: AdmissionAttributes): boolean {
  if (operation === "CREATE") return true
  const [spec, old] = [(object as Pod).spec, (current as Pod | undefined)?.spec]
  if (spec === undefined || old === undefined) return true
  const isOther = (own: readonly Container[] = [], before: readonly Container[] = []): boolean =>
    own.length !== before.length || own.some(({ image }, index) => image !== before[index]?.image)
  if (isOther(spec.containers, old.containers) || isOther(spec.initContainers, old.initContainers)) return true
  const debuggers = byName(old.ephemeralContainers ?? [])
  return (spec.ephemeralContainers ?? []).some(({ name, image }) => {
    const before = debuggers.get(name)
    return before === undefined || before.image !== image
  })
}

function checkPod(ctx: RequestContext, attributes: AdmissionAttributes, policy: Policy): void {
  const { metadata, spec } = objectAs<Pod>(attributes)
  if (spec === undefined) return
  const pod = { metadata, spec }
  annotate(ctx, "enforce-policy", printLevel(policy.enforce))
  const faults = faultsOf(pod, policy.enforce)
  if (faults.length === 0) return reportViolations(ctx, pod, policy, policy.enforce)
  reportViolations(ctx, pod, { ...policy, warn: { level: "privileged", version: "latest" } }) // no warning in addition to the rejection
  throw refuse(attributes, `violates PodSecurity "${printLevel(policy.enforce)}": ${details(faults)}`)
}

/** Reports violations of the levels that are not enforced. `held`: a level that the pod is known to satisfy. */
function reportViolations(ctx: RequestContext, pod: CheckedPod, { audit, warn }: Policy, held?: LevelVersion): void {
  const words = (of: LevelVersion): string | undefined => {
    if (held !== undefined && isSame(of, held)) return undefined
    const faults = faultsOf(pod, of)
    return faults.length === 0 ? undefined : `would violate PodSecurity "${printLevel(of)}": ${details(faults)}`
  }
  const [audited, warned] = [words(audit), words(warn)]
  if (audited !== undefined) annotate(ctx, "audit-violations", audited)
  if (warned !== undefined) ctx.warn(warned)
}

function details(faults: readonly Fault[]): string {
  return faults.map(({ reason, detail }) => (detail === "" ? reason : `${reason} (${detail})`)).join(", ")
}

/** Rejects new invalid labels; warns of existing pods that violate a stricter level. */
async function validateNamespace(ctx: RequestContext, attributes: AdmissionAttributes): Promise<void> {
  const { metadata } = objectAs<Namespace>(attributes)
  const { policy, errors } = policyOf(metadata.labels)
  const before = attributes.operation === "UPDATE" ? policyOf(attributes.current?.metadata.labels) : undefined
  const isNew = JSON.stringify(errors) !== JSON.stringify(before?.errors)
  if (errors.length > 0 && isNew) throw invalid(attributes.kind, attributes.name || (metadata.name ?? ""), errors)
  if (before === undefined) return
  const [now, was] = [policy.enforce, before.policy.enforce]
  if (isNone(now) || isSame(now, was)) return
  if (now.version === was.version && compareLevels(now.level, was.level) <= 0) return
  for (const warning of await warningsOf(ctx, metadata.name ?? "", now)) ctx.warn(warning)
}

/** The violations of the namespace's pods: each once, with the name of the first pod and the number of others. */
async function warningsOf(ctx: RequestContext, namespace: string, level: LevelVersion): Promise<string[]> {
  const deadline = performance.now() + maxCheckMs
  const all = oneOfEachFirst(await listAll<Pod>(ctx, pods, namespace))
  const found = new Map<string, string[]>() // names of pods by violation
  let checked = 0
  for (const { metadata, spec } of all.slice(0, maxPodsChecked)) {
    if (checked > 0 && checked % podsAtOnce === 0) await ctx.pause?.()
    checked++
    const why =
      spec === undefined
        ? ""
        : faultsOf({ metadata, spec }, level)
            .map(({ reason }) => reason)
            .join(", ")
    if (why !== "") (found.get(why) ?? found.set(why, []).get(why))?.push(metadata.name ?? "")
    if (performance.now() > deadline) break
  }
  const warnings: string[] = []
  if (checked < all.length) {
    const some = `the first ${checked} of ${all.length} existing pods`
    warnings.push(`new PodSecurity enforce level only checked against ${some}`)
  }
  if (found.size > 0)
    warnings.push(
      `existing pods in namespace "${namespace}" violate the new PodSecurity enforce level "${printLevel(level)}"`,
    )
  return [...warnings, ...[...found].map(([why, names]) => `${someOf(names)}: ${why}`).sort()]
}

function someOf(names: string[]): string {
  const [first = ""] = names.toSorted()
  const others = names.length - 1
  return others === 0 ? first : `${first} (and ${others} other ${others === 1 ? "pod" : "pods"})`
}

/** Moves one pod of each controller to the front, since pods of a controller are alike. */
function oneOfEachFirst(pods: readonly Pod[]): Pod[] {
  const seen = new Set<string>()
  const [first, more]: [Pod[], Pod[]] = [[], []]
  for (const pod of pods) {
    const owner = controllerOf(pod)?.uid
    if (owner === undefined || !seen.has(owner)) first.push(pod)
    else more.push(pod)
    if (owner !== undefined) seen.add(owner)
  }
  return [...first, ...more]
}
