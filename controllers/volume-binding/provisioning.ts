// A claim whose class has no matching volume: it waits for the class's external provisioner, or an event reports that there is none.

import type { PersistentVolumeClaim, StorageClass } from "../../apimachinery/object.ts"
import { persistentVolumeClaims } from "../../client/resources.ts"
import type { Binder } from "./binder.ts"
import { olderProvisionerAnnotation, provisionerAnnotation } from "./migration.ts"
import { driverOf, hostPath, isInTree, lacking, migratedTo } from "./plugins.ts"

export async function provision(
  binder: Binder,
  claim: PersistentVolumeClaim,
  storageClass: StorageClass,
): Promise<void> {
  const { provisioner } = storageClass
  const outside = driverOf(provisioner) ?? (isInTree(provisioner) ? undefined : provisioner)
  if (outside === undefined) return refuse(binder, claim, storageClass)
  await setProvisioner(binder, claim, outside)
  binder.actor.event(
    claim,
    "Normal",
    "ExternalProvisioning",
    `Waiting for a volume to be created either by the external provisioner '${outside}' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.`,
  )
}

/** Host paths are provisioned only in tests, and not by default. */
async function refuse(
  binder: Binder,
  claim: PersistentVolumeClaim,
  { provisioner, mountOptions = [], metadata }: StorageClass,
): Promise<void> {
  const fail = (text: string): void => binder.actor.event(claim, "Warning", "ProvisioningFailed", text)
  const fault = lacking(provisioner, "provisionable")
  if (fault !== undefined) return fail(fault)
  if (claim.spec?.dataSource !== undefined) {
    return fail(`plugin "${hostPath}" is not a CSI plugin. Only CSI plugin can provision a claim with a datasource`)
  }
  await setProvisioner(binder, claim, provisioner)
  if (mountOptions.length > 0) {
    const has = `StorageClass "${metadata.name ?? ""}" has mount options [${mountOptions.join(" ")}]`
    return fail(`Mount options are not supported by the provisioner but ${has}`)
  }
  fail(`Failed to create provisioner: provisioning in volume plugin "${hostPath}" is disabled`)
}

/** Records the provisioner that the claim waits for. */
async function setProvisioner(binder: Binder, claim: PersistentVolumeClaim, provisioner: string): Promise<void> {
  const { namespace, name = "", uid, annotations = {} } = claim.metadata
  if (annotations[provisionerAnnotation] === provisioner) return
  const wanted = {
    [olderProvisionerAnnotation]: provisioner,
    [provisionerAnnotation]: provisioner,
    ...(annotations[migratedTo] === undefined ? {} : { [migratedTo]: null }),
  }
  const patch = { metadata: { uid, annotations: wanted } }
  await binder.actor.client.patch(persistentVolumeClaims, namespace, name, patch, { type: "merge" })
}
