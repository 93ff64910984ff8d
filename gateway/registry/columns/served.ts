// Columns of APIServices. Source: k8s.io/kube-aggregator/pkg/registry/apiservice/etcd.

import type { KubeObject } from "../../../apimachinery/object.ts"
import type { TableColumn } from "./table-column.ts"
import { age, name, text } from "./column.ts"

type APIService = KubeObject & {
  spec?: { service?: { namespace?: string; name?: string } | null }
  status?: { conditions?: { type: string; status: string; reason?: string }[] }
}

export const apiServiceColumns: readonly TableColumn[] = [
  name,
  text<APIService>("Service", ({ spec }) =>
    spec?.service ? `${spec.service.namespace ?? ""}/${spec.service.name ?? ""}` : "Local",
  ),
  text<APIService>("Available", ({ status }) => {
    const available = (status?.conditions ?? []).find(({ type }) => type === "Available")
    if (available === undefined) return "Unknown"
    return available.status === "True" || !available.reason
      ? available.status
      : `${available.status} (${available.reason})`
  }),
  age,
]
