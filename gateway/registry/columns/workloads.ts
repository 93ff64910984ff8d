// Columns of kinds that create pods. Source: k8s.io/kubernetes/pkg/printers/internalversion.

import type * as models from "@kubernetes/client-node"
import {
  controllerOf,
  type Deployment,
  type Job,
  type KubeObject,
  parseGroupVersion,
  type PodTemplateSpec,
  type ReplicaSet,
  type StatefulSet,
  type Wire,
} from "../../../apimachinery/object.ts"
import { toLower } from "../../../apimachinery/texts.ts"
import type { TableColumn } from "./table-column.ts"
import { Age, ageOf, humanDuration } from "./age.ts"
import { age, column, integer, name, text, wideText } from "./column.ts"
import { containerColumns, printLabelSelector, printLabels } from "./layout.ts"

type Kind<Spec, Status> = KubeObject & { spec?: Wire<Spec>; status?: Wire<Status> }
type DaemonSet = Kind<models.V1DaemonSetSpec, models.V1DaemonSetStatus>
type CronJob = Kind<models.V1CronJobSpec, models.V1CronJobStatus>
type ReplicationController = Kind<models.V1ReplicationControllerSpec, models.V1ReplicationControllerStatus>
type Scale = Kind<models.V1ScaleSpec, models.V1ScaleStatus>
type ControllerRevision = KubeObject & { revision?: number }
type PodTemplate = KubeObject & { template?: PodTemplateSpec }

export const deploymentColumns: readonly TableColumn[] = [
  name,
  text<Deployment>("Ready", ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`),
  text<Deployment>("Up-to-date", ({ status }) => status?.updatedReplicas ?? 0),
  text<Deployment>("Available", ({ status }) => status?.availableReplicas ?? 0),
  age,
  ...containerColumns<Deployment>(({ spec }) => spec?.template),
  // Alone among those of workloads it shows nothing for none.
  wideText<Deployment>("Selector", ({ spec }) => (spec?.selector ? printLabelSelector(spec.selector) : "")),
]

export const replicaSetColumns: readonly TableColumn[] = [
  name,
  integer<ReplicaSet>("Desired", ({ spec }) => spec?.replicas ?? 0),
  integer<ReplicaSet>("Current", ({ status }) => status?.replicas ?? 0),
  integer<ReplicaSet>("Ready", ({ status }) => status?.readyReplicas ?? 0),
  age,
  ...containerColumns<ReplicaSet>(({ spec }) => spec?.template),
  wideText<ReplicaSet>("Selector", ({ spec }) => printLabelSelector(spec?.selector)),
]

export const replicationControllerColumns: readonly TableColumn[] = [
  ...replicaSetColumns.slice(0, 5),
  ...containerColumns<ReplicationController>(({ spec }) => spec?.template),
  wideText<ReplicationController>("Selector", ({ spec }) => printLabels(spec?.selector)),
]

/** Of autoscaling/v1 Scale. */
export const scaleColumns: readonly TableColumn[] = [
  text("Name", ({ metadata }) => metadata.name ?? ""),
  integer<Scale>("Desired", ({ spec }) => spec?.replicas ?? 0),
  integer<Scale>("Available", ({ status }) => status?.replicas ?? 0),
  age,
]

export const statefulSetColumns: readonly TableColumn[] = [
  name,
  text<StatefulSet>("Ready", ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`),
  age,
  ...containerColumns<StatefulSet>(({ spec }) => spec?.template),
]

export const daemonSetColumns: readonly TableColumn[] = [
  name,
  integer<DaemonSet>("Desired", ({ status }) => status?.desiredNumberScheduled ?? 0),
  integer<DaemonSet>("Current", ({ status }) => status?.currentNumberScheduled ?? 0),
  integer<DaemonSet>("Ready", ({ status }) => status?.numberReady ?? 0),
  integer<DaemonSet>("Up-to-date", ({ status }) => status?.updatedNumberScheduled ?? 0),
  integer<DaemonSet>("Available", ({ status }) => status?.numberAvailable ?? 0),
  text<DaemonSet>("Node Selector", ({ spec }) => printLabels(spec?.template.spec?.nodeSelector)),
  age,
  ...containerColumns<DaemonSet>(({ spec }) => spec?.template),
  wideText<DaemonSet>("Selector", ({ spec }) => printLabelSelector(spec?.selector)),
]

export const jobColumns: readonly TableColumn[] = [
  name,
  text<Job>("Status", jobStatus),
  text<Job>("Completions", ({ spec, status }) => {
    const done = status?.succeeded ?? 0
    if (spec?.completions !== undefined) return `${done}/${spec.completions}`
    const parallel = spec?.parallelism ?? 0
    return parallel > 1 ? `${done}/1 of ${parallel}` : `${done}/1`
  }),
  text<Job>("Duration", ({ status }) => {
    if (status?.startTime === undefined) return ""
    const start = Date.parse(status.startTime)
    return status.completionTime === undefined
      ? new Age(start)
      : humanDuration(Date.parse(status.completionTime) - start)
  }),
  age,
  ...containerColumns<Job>(({ spec }) => spec?.template),
  wideText<Job>("Selector", ({ spec }) => printLabelSelector(spec?.selector)),
]

function jobStatus(job: Job): string {
  const has = (type: string): boolean =>
    (job.status?.conditions ?? []).find((condition) => condition.type === type)?.status === "True"
  if (has("Complete")) return "Complete"
  if (has("Failed")) return "Failed"
  if (job.metadata.deletionTimestamp !== undefined) return "Terminating"
  return ["Suspended", "FailureTarget", "SuccessCriteriaMet"].find(has) ?? "Running"
}

export const cronJobColumns: readonly TableColumn[] = [
  name,
  text<CronJob>("Schedule", ({ spec }) => spec?.schedule ?? ""),
  text<CronJob>("Timezone", ({ spec }) => spec?.timeZone ?? "<none>"),
  // Upstream declares the column as boolean but prints a string.
  column<CronJob>("Suspend", "boolean", ({ spec }) =>
    spec?.suspend === undefined ? "<unset>" : spec.suspend ? "True" : "False",
  ),
  integer<CronJob>("Active", ({ status }) => (status?.active ?? []).length),
  text<CronJob>("Last Schedule", ({ status }) =>
    status?.lastScheduleTime === undefined ? "<none>" : ageOf(status.lastScheduleTime),
  ),
  age,
  ...containerColumns<CronJob>(({ spec }) => spec?.jobTemplate.spec?.template),
  wideText<CronJob>("Selector", ({ spec }) => printLabelSelector(spec?.jobTemplate.spec?.selector)),
]

export const controllerRevisionColumns: readonly TableColumn[] = [
  name,
  text<ControllerRevision>("Controller", (revision) => {
    const owner = controllerOf(revision)
    if (owner === undefined) return "<none>"
    const { group } = parseGroupVersion(owner.apiVersion)
    return `${toLower(group === "" ? owner.kind : `${owner.kind}.${group}`)}/${owner.name}`
  }),
  text<ControllerRevision>("Revision", ({ revision }) => revision ?? 0),
  age,
]

export const podTemplateColumns: readonly TableColumn[] = [
  name,
  text<PodTemplate>("Containers", ({ template }) =>
    (template?.spec?.containers ?? []).map((item) => item.name).join(","),
  ),
  text<PodTemplate>("Images", ({ template }) =>
    (template?.spec?.containers ?? []).map((item) => item.image ?? "").join(","),
  ),
  text<PodTemplate>("Pod Labels", ({ template }) => printLabels(template?.metadata?.labels)),
]
