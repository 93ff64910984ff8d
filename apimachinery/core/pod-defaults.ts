// Defaults of a pod spec, in pods and templates. They set only missing fields. Source:
// k8s.io/kubernetes/pkg/apis/core/v1/defaults.go.

import type * as models from "@kubernetes/client-node"
import { defaultPullPolicy } from "./image.ts"
import type { Container, ObjectMeta, PodSpec, PodTemplateSpec, Wire } from "../object.ts"

type LifecycleHandler = Wire<models.V1LifecycleHandler>
type Probe = Wire<models.V1Probe>
type ResourceFieldSelector = Wire<models.V1ResourceFieldSelector>
type Volume = Wire<models.V1Volume>

const volumeMode = 0o644
const graceSeconds = 30

export function defaultPodTemplate(template: PodTemplateSpec | undefined): void {
  if (template === undefined) return
  template.spec ??= { containers: [] }
  defaultPodSpec(template.spec)
}

/** What upstream's conversion makes of a template. */
export function convertPodTemplate(template: PodTemplateSpec | undefined): void {
  if (template?.metadata !== undefined) dropFormerAnnotations(template.metadata)
  if (template?.spec !== undefined) alignAccounts(template.spec)
}

const formerAnnotations = ["alpha", "beta"].flatMap((stage) =>
  ["init-containers", "init-container-statuses"].map((name) => `pod.${stage}.kubernetes.io/${name}`),
)

/** The annotations that init containers had before they had a field. */
export function dropFormerAnnotations(metadata: Partial<ObjectMeta>): void {
  const { annotations } = metadata
  if (annotations === undefined || !formerAnnotations.some((name) => Object.hasOwn(annotations, name))) return
  const others = Object.entries(annotations).filter(([name]) => !formerAnnotations.includes(name))
  if (others.length === 0) delete metadata.annotations
  else metadata.annotations = Object.fromEntries(others)
}

export function defaultPodSpec(spec: PodSpec): void {
  spec.dnsPolicy = orDefault(spec.dnsPolicy, "ClusterFirst")
  spec.restartPolicy = orDefault(spec.restartPolicy, "Always")
  spec.securityContext ??= {}
  spec.terminationGracePeriodSeconds ??= graceSeconds
  spec.schedulerName = orDefault(spec.schedulerName, "default-scheduler")
  for (const volume of spec.volumes ?? []) defaultVolume(volume)
  for (const container of everyContainer(spec)) defaultContainer(container)
  for (const constraint of spec.topologySpreadConstraints ?? []) {
    if (constraint.whenUnsatisfiable === "") constraint.whenUnsatisfiable = "DoNotSchedule"
  }
}

/** serviceAccount, the old name of serviceAccountName, is kept equal for clients that know only one of them. */
export function alignAccounts(spec: PodSpec): void {
  if (spec.serviceAccountName === undefined && spec.serviceAccount !== undefined) {
    spec.serviceAccountName = spec.serviceAccount
  }
  if (spec.serviceAccountName !== undefined) spec.serviceAccount = spec.serviceAccountName
}

export function everyContainer(spec: PodSpec): Container[] {
  return [
    ...(spec.initContainers ?? []),
    ...(spec.containers ?? []),
    ...((spec.ephemeralContainers ?? []) as unknown as Container[]),
  ]
}

function defaultContainer(container: Container): void {
  container.imagePullPolicy = orDefault(container.imagePullPolicy, defaultPullPolicy(container.image ?? ""))
  container.terminationMessagePath = orDefault(container.terminationMessagePath, "/dev/termination-log")
  container.terminationMessagePolicy = orDefault(container.terminationMessagePolicy, "File")
  container.resources ??= {}
  for (const port of container.ports ?? []) port.protocol = orDefault(port.protocol, "TCP")
  for (const { valueFrom } of container.env ?? []) {
    if (valueFrom?.fieldRef !== undefined)
      valueFrom.fieldRef.apiVersion = orDefault(valueFrom.fieldRef.apiVersion, "v1")
    defaultDivisor(valueFrom?.resourceFieldRef)
    if (valueFrom?.fileKeyRef !== undefined) valueFrom.fileKeyRef.optional ??= false
  }
  defaultProbe(container.livenessProbe)
  defaultProbe(container.readinessProbe)
  defaultProbe(container.startupProbe)
  defaultHandler(container.lifecycle?.postStart)
  defaultHandler(container.lifecycle?.preStop)
  if (container.securityContext !== undefined && container.securityContext.procMount === "") {
    container.securityContext.procMount = "Default"
  }
}

function defaultProbe(probe: Probe | undefined): void {
  if (probe === undefined) return
  probe.timeoutSeconds = probe.timeoutSeconds || 1
  probe.periodSeconds = probe.periodSeconds || 10
  probe.successThreshold = probe.successThreshold || 1
  probe.failureThreshold = probe.failureThreshold || 3
  if (probe.grpc !== undefined) probe.grpc.service ??= ""
  defaultHandler(probe)
}

function defaultHandler(handler: Pick<LifecycleHandler, "httpGet"> | undefined): void {
  if (handler?.httpGet === undefined) return
  handler.httpGet.path = orDefault(handler.httpGet.path, "/")
  handler.httpGet.scheme = orDefault(handler.httpGet.scheme, "HTTP")
}

function defaultVolume(volume: Volume): void {
  if (Object.keys(volume).every((key) => key === "name")) volume.emptyDir = {}
  if (volume.secret !== undefined) volume.secret.defaultMode ??= volumeMode
  if (volume.configMap !== undefined) volume.configMap.defaultMode ??= volumeMode
  if (volume.downwardAPI !== undefined) {
    volume.downwardAPI.defaultMode ??= volumeMode
    for (const item of volume.downwardAPI.items ?? []) defaultDownward(item)
  }
  if (volume.projected !== undefined) {
    volume.projected.defaultMode ??= volumeMode
    for (const source of volume.projected.sources ?? []) {
      if (source.serviceAccountToken !== undefined) source.serviceAccountToken.expirationSeconds ??= 3600
      for (const item of source.downwardAPI?.items ?? []) defaultDownward(item)
    }
  }
  if (volume.hostPath !== undefined) volume.hostPath.type ??= ""
  if (volume.iscsi !== undefined) volume.iscsi.iscsiInterface = orDefault(volume.iscsi.iscsiInterface, "default")
  if (volume.rbd !== undefined) {
    volume.rbd.pool = orDefault(volume.rbd.pool, "rbd")
    volume.rbd.user = orDefault(volume.rbd.user, "admin")
    volume.rbd.keyring = orDefault(volume.rbd.keyring, "/etc/ceph/keyring")
  }
  if (volume.ephemeral?.volumeClaimTemplate?.spec !== undefined) {
    volume.ephemeral.volumeClaimTemplate.spec.volumeMode ??= "Filesystem"
  }
  if (volume.image !== undefined) {
    volume.image.pullPolicy = orDefault(volume.image.pullPolicy, defaultPullPolicy(volume.image.reference ?? ""))
  }
}

function defaultDownward(item: {
  fieldRef?: { apiVersion?: string; fieldPath: string }
  resourceFieldRef?: ResourceFieldSelector
}): void {
  if (item.fieldRef !== undefined) item.fieldRef.apiVersion = orDefault(item.fieldRef.apiVersion, "v1")
  defaultDivisor(item.resourceFieldRef)
}

/** A missing divisor is Go's zero quantity, which its encoder always writes. */
function defaultDivisor(selector: ResourceFieldSelector | undefined): void {
  if (selector !== undefined) selector.divisor ??= "0"
}

function orDefault(value: string | undefined, fallback: string): string {
  return value === undefined || value === "" ? fallback : value
}
