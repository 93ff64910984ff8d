// Columns of devices that pods can claim (resource.k8s.io). Source: k8s.io/kubernetes/pkg/printers/internalversion.

import type { KubeObject } from "../../../apimachinery/object.ts"
import type { TableColumn } from "./table-column.ts"
import { age, name, text } from "./column.ts"

type Claim = KubeObject & { status?: { allocation?: object; reservedFor?: unknown[] } }
type Slice = KubeObject & { spec?: { nodeName?: string; driver?: string; pool?: { name?: string } } }

/** Device classes and claim templates. */
export const deviceKindColumns: readonly TableColumn[] = [name, age]

export const resourceClaimColumns: readonly TableColumn[] = [
  name,
  text<Claim>("State", ({ metadata, status }) => {
    const words = metadata.deletionTimestamp === undefined ? [] : ["deleted"]
    if (status?.allocation !== undefined) {
      words.push("allocated")
      if ((status.reservedFor ?? []).length > 0) words.push("reserved")
    } else if (words.length === 0) words.push("pending")
    return words.join(",")
  }),
  age,
]

export const resourceSliceColumns: readonly TableColumn[] = [
  name,
  text<Slice>("Node", ({ spec }) => spec?.nodeName ?? ""),
  text<Slice>("Driver", ({ spec }) => spec?.driver ?? ""),
  text<Slice>("Pool", ({ spec }) => spec?.pool?.name ?? ""),
  age,
]
