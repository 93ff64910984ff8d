// A kubelet requests tokens only for its own pods, and only for audiences that they, or the drivers of their volumes, ask for.

import type {
  KubeObject,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodSpec,
} from "../../../../apimachinery/object.ts"
import { dictionary } from "../../../../apimachinery/dictionary.ts"
import { goQuote } from "../../../../apimachinery/go/quote.ts"
import { aggregateMessage, errorMessage } from "../../../../apimachinery/error-message.ts"
import { isNotFound, notFound } from "../../../../apimachinery/status.ts"
import { isAllowed } from "../../../authorization/further-rights.ts"
import type { RequestContext } from "../../../request/context.ts"
import type { AdmissionAttributes } from "../../chain.ts"
import { find } from "../lookup.ts"
import { objectAs, refuse } from "../refuse.ts"
import { podOf } from "./pods.ts"

interface TokenRequest extends KubeObject {
  spec?: {
    audiences?: string[]
    boundObjectRef?: { apiVersion?: string; kind?: string; name?: string; uid?: string } | null
  }
}

type Volume = NonNullable<PodSpec["volumes"]>[number]
type CSIDriver = KubeObject & { spec?: { tokenRequests?: { audience?: string }[] } }

export async function restrictToken(ctx: RequestContext, node: string, attributes: AdmissionAttributes): Promise<void> {
  const { operation, subresource, namespace } = attributes
  if (operation !== "CREATE" || subresource !== "token") return
  const { spec } = objectAs<TokenRequest>(attributes)
  const { apiVersion, kind, name = "", uid = "" } = spec?.boundObjectRef ?? {}
  if (apiVersion !== "v1" || kind !== "Pod" || name === "")
    throw refuse(attributes, "node requested token not bound to a pod")
  if (uid === "") throw refuse(attributes, "node requested token with a pod binding without a uid")
  const pod = await podOf(ctx, namespace, name)
  if (uid !== pod.metadata.uid) {
    const detail = `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`
    throw refuse(attributes, detail)
  }
  if (pod.spec?.nodeName !== node)
    throw refuse(attributes, "node requested token bound to a pod scheduled on a different node")
  const fault = await faultOfAudiences(ctx, attributes, spec?.audiences ?? [], pod)
  if (fault !== undefined) throw refuse(attributes, fault)
}

async function faultOfAudiences(
  ctx: RequestContext,
  { namespace, name }: AdmissionAttributes,
  audiences: readonly string[],
  pod: Pod,
): Promise<string | undefined> {
  if (audiences.length > 1) return "node may only request 0 or 1 audiences"
  const [audience = ""] = audiences
  const { isAsked, errors } = await isAskedFor(ctx, pod, audience)
  if (isAsked) return undefined
  if (errors.length > 0) return `error validating audience ${goQuote(audience)}: ${aggregateMessage(errors)}`
  const verb = "request-serviceaccounts-token-audience"
  const right = { verb, group: "", version: "v1", resource: audience, namespace, name }
  if (await isAllowed(ctx, right)) return undefined
  const who = `${ctx.user.name} is not authorized to request tokens for this audience`
  return `audience ${goQuote(audience)} not found in pod spec volume, ${who}`
}

/** The errors count only if the audience is not found. */
async function isAskedFor(
  ctx: RequestContext,
  pod: Pod,
  audience: string,
): Promise<{ isAsked: boolean; errors: string[] }> {
  const errors: string[] = []
  for (const volume of pod.spec?.volumes ?? []) {
    const sources = volume.projected?.sources ?? []
    const isMounted = sources.some(
      ({ serviceAccountToken }) =>
        serviceAccountToken !== undefined && (serviceAccountToken.audience ?? "") === audience,
    )
    if (isMounted) return { isAsked: true, errors }
    try {
      const driver = await driverOf(ctx, pod, volume)
      if (driver !== undefined && (await asksFor(ctx, driver, audience))) return { isAsked: true, errors }
    } catch (error) {
      if (!isNotFound(error)) throw error
      errors.push(errorMessage(error))
    }
  }
  return { isAsked: false, errors }
}

/** Source: k8s.io/csi-translation-lib. */
const migrated: Readonly<Record<string, string>> = dictionary({
  awsElasticBlockStore: "ebs.csi.aws.com",
  azureDisk: "disk.csi.azure.com",
  azureFile: "file.csi.azure.com",
  cinder: "cinder.csi.openstack.org",
  gcePersistentDisk: "pd.csi.storage.gke.io",
  portworxVolume: "pxd.portworx.com",
  vsphereVolume: "csi.vsphere.vmware.com",
})

const migratedDriver = (source: object): string | undefined =>
  Object.entries(migrated).find(([field]) => Object.hasOwn(source, field))?.[1]

async function driverOf(ctx: RequestContext, pod: Pod, volume: Volume): Promise<string | undefined> {
  const { persistentVolumeClaim, ephemeral, csi } = volume
  const { namespace = "" } = pod.metadata
  if (ephemeral?.volumeClaimTemplate !== undefined)
    return driverOfClaim(ctx, namespace, `${pod.metadata.name}-${volume.name}`)
  if (persistentVolumeClaim !== undefined) return driverOfClaim(ctx, namespace, persistentVolumeClaim.claimName)
  return csi?.driver ?? migratedDriver(volume)
}

async function driverOfClaim(ctx: RequestContext, namespace: string, name: string): Promise<string | undefined> {
  const claim = await known<PersistentVolumeClaim>(ctx, "", "persistentvolumeclaim", namespace, name)
  const volume = await known<PersistentVolume>(ctx, "", "persistentvolume", "", claim.spec?.volumeName ?? "")
  return volume.spec?.csi?.driver ?? migratedDriver(volume.spec ?? {})
}

async function asksFor(ctx: RequestContext, name: string, audience: string): Promise<boolean> {
  const driver = await known<CSIDriver>(ctx, "storage.k8s.io", "csidriver", "", name)
  return (driver.spec?.tokenRequests ?? []).some((request) => (request.audience ?? "") === audience)
}

/** `kind`: in the singular, as upstream's listers name what is missing. */
async function known<T extends KubeObject>(
  ctx: RequestContext,
  group: string,
  kind: string,
  namespace: string,
  name: string,
): Promise<T> {
  const object =
    name === "" ? undefined : await find<T>(ctx, { group, version: "v1", resource: `${kind}s` }, namespace, name)
  if (object === undefined) throw notFound({ group, resource: kind }, name)
  return object
}
