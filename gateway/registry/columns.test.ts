// Every built-in kind has the columns of kube-apiserver v1.36: names, types, formats and priorities as in its Table responses.
// Cells of single kinds are tested in columns/.

import { expect, test } from "vitest"
import { builtInResources } from "../../apimachinery/schema/facts.ts"
import type { TableColumn } from "./columns/table-column.ts"
import { columnsOf } from "./columns.ts"

/** In the format of the function below. Columns are text without format that is always shown, unless specified. */
const expected: Readonly<Record<string, string>> = {
  "/componentstatuses": "Name/name, Status, Message, Error",
  "/configmaps": "Name/name, Data, Age",
  "/endpoints": "Name/name, Endpoints, Age",
  "/events":
    "Last Seen, Type, Reason, Object, Subobject wide, Source wide, Message, First Seen wide, Count wide, Name/name wide",
  "/limitranges": "Name/name, Created At:date",
  "/namespaces": "Name/name, Status, Age",
  "/nodes":
    "Name/name, Status, Roles, Age, Version, Internal-IP wide, External-IP wide, OS-Image wide, Kernel-Version wide, Container-Runtime wide",
  "/persistentvolumeclaims":
    "Name/name, Status, Volume, Capacity, Access Modes, StorageClass, VolumeAttributesClass, Age, VolumeMode wide",
  "/persistentvolumes":
    "Name/name, Capacity, Access Modes, Reclaim Policy, Status, Claim, StorageClass, VolumeAttributesClass, Reason, Age, VolumeMode wide",
  "/pods": "Name/name, Ready, Status, Restarts, Age, IP wide, Node wide, Nominated Node wide, Readiness Gates wide",
  "/podtemplates": "Name/name, Containers, Images, Pod Labels",
  "/replicationcontrollers":
    "Name/name, Desired:integer, Current:integer, Ready:integer, Age, Containers wide, Images wide, Selector wide",
  "/resourcequotas": "Name/name, Request, Limit, Age",
  "/secrets": "Name/name, Type, Data, Age",
  "/serviceaccounts": "Name/name, Age",
  "/services": "Name/name, Type, Cluster-IP, External-IP, Port(s), Age, Selector wide",
  "apiregistration.k8s.io/apiservices": "Name/name, Service, Available, Age",
  "apps/controllerrevisions": "Name/name, Controller, Revision, Age",
  "apps/daemonsets":
    "Name/name, Desired:integer, Current:integer, Ready:integer, Up-to-date:integer, Available:integer, Node Selector, Age, Containers wide, Images wide, Selector wide",
  "apps/deployments": "Name/name, Ready, Up-to-date, Available, Age, Containers wide, Images wide, Selector wide",
  "apps/replicasets":
    "Name/name, Desired:integer, Current:integer, Ready:integer, Age, Containers wide, Images wide, Selector wide",
  "apps/statefulsets": "Name/name, Ready, Age, Containers wide, Images wide",
  "events.k8s.io/events":
    "Last Seen, Type, Reason, Object, Subobject wide, Source wide, Message, First Seen wide, Count wide, Name/name wide",
  "autoscaling/horizontalpodautoscalers": "Name/name, Reference, Targets, MinPods, MaxPods, Replicas, Age",
  "batch/cronjobs":
    "Name/name, Schedule, Timezone, Suspend:boolean, Active:integer, Last Schedule, Age, Containers wide, Images wide, Selector wide",
  "batch/jobs": "Name/name, Status, Completions, Duration, Age, Containers wide, Images wide, Selector wide",
  "certificates.k8s.io/certificatesigningrequests":
    "Name/name, Age, SignerName, Requestor, RequestedDuration, Condition",
  "networking.k8s.io/ingressclasses": "Name/name, Controller, Parameters, Age",
  "networking.k8s.io/ingresses": "Name/name, Class, Hosts, Address, Ports, Age",
  "networking.k8s.io/ipaddresses": "Name/name, ParentRef",
  "networking.k8s.io/networkpolicies": "Name/name, Pod-Selector, Age",
  "networking.k8s.io/servicecidrs": "Name/name, CIDRs, Age",
  "policy/poddisruptionbudgets": "Name/name, Min Available, Max Unavailable, Allowed Disruptions:integer, Age",
  "rbac.authorization.k8s.io/clusterrolebindings":
    "Name/name, Role, Age, Users wide, Groups wide, ServiceAccounts wide",
  "rbac.authorization.k8s.io/clusterroles": "Name/name, Created At:date",
  "rbac.authorization.k8s.io/rolebindings": "Name/name, Role, Age, Users wide, Groups wide, ServiceAccounts wide",
  "rbac.authorization.k8s.io/roles": "Name/name, Created At:date",
  "storage.k8s.io/csidrivers":
    "Name/name, AttachRequired:boolean, PodInfoOnMount:boolean, StorageCapacity:boolean, TokenRequests, RequiresRepublish:boolean, Modes, Age",
  "storage.k8s.io/csinodes": "Name/name, Drivers:integer, Age",
  "storage.k8s.io/csistoragecapacities": "Name/name, Created At:date",
  "storage.k8s.io/storageclasses":
    "Name/name, Provisioner, ReclaimPolicy, VolumeBindingMode, AllowVolumeExpansion, Age",
  "storage.k8s.io/volumeattachments": "Name/name, Attacher/name, PV, Node, Attached:boolean, Age",
  "storage.k8s.io/volumeattributesclasses": "Name/name, DriverName, Age",
  "admissionregistration.k8s.io/mutatingadmissionpolicies": "Name/name, Mutations:integer, ParamKind, Age",
  "admissionregistration.k8s.io/mutatingadmissionpolicybindings": "Name/name, PolicyName, ParamRef, Age",
  "admissionregistration.k8s.io/mutatingwebhookconfigurations": "Name/name, Webhooks:integer, Age",
  "admissionregistration.k8s.io/validatingadmissionpolicies": "Name/name, Validations:integer, ParamKind, Age",
  "admissionregistration.k8s.io/validatingadmissionpolicybindings": "Name/name, PolicyName, ParamRef, Age",
  "admissionregistration.k8s.io/validatingwebhookconfigurations": "Name/name, Webhooks:integer, Age",
  "apiextensions.k8s.io/customresourcedefinitions": "Name/name, Created At:date",
  "scheduling.k8s.io/priorityclasses": "Name/name, Value:integer, Global-Default:boolean, Age, PreemptionPolicy",
  "coordination.k8s.io/leases": "Name/name, Holder, Age",
  "node.k8s.io/runtimeclasses": "Name/name, Handler, Age",
  "discovery.k8s.io/endpointslices": "Name/name, AddressType, Ports, Endpoints, Age",
  "resource.k8s.io/deviceclasses": "Name/name, Age",
  "resource.k8s.io/resourceclaims": "Name/name, State, Age",
  "resource.k8s.io/resourceclaimtemplates": "Name/name, Age",
  "resource.k8s.io/resourceslices": "Name/name, Node, Driver, Pool, Age",
  "flowcontrol.apiserver.k8s.io/flowschemas":
    "Name/name, PriorityLevel, MatchingPrecedence, DistinguisherMethod, Age, MissingPL",
  "flowcontrol.apiserver.k8s.io/prioritylevelconfigurations":
    "Name/name, Type, NominalConcurrencyShares, Queues, HandSize, QueueLengthLimit, Age",
}

function print({ name, type, format, priority, untitled }: TableColumn): string[] {
  if (untitled === true) return []
  const typed = type === "string" ? name : `${name}:${type}`
  const formatted = format === "" ? typed : `${typed}/${format}`
  return [priority === 0 ? formatted : `${formatted} wide`]
}

const listed = builtInResources().filter(({ verbs }) => verbs.includes("list"))

test.for([...new Set(listed.map(({ group, resource }) => `${group}/${resource}`))])(
  "%s shows kube-apiserver's columns",
  (key) => {
    const slash = key.indexOf("/")
    const columns = columnsOf(key.slice(0, slash), key.slice(slash + 1))
    expect(columns.flatMap(print).join(", ")).toBe(expected[key])
  },
)
