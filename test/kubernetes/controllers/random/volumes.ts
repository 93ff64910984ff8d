// Volumes and claims: reserved, bound, released and lost, in classes of any kind, used by pods or not.

import { chance, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { Step } from "../scenario.ts"
import { user } from "../scenarios/volume-steps.ts"
import { type Family, held, maybe, oneByOne, refusable, some } from "./family.ts"

const rank = ["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany"] as const
const askedModes = [...rank, "ReadWriteOncePod"] as const
const provisioners = ["kubernetes.io/no-provisioner", "csi.example.com", "kubernetes.io/aws-ebs", "kubernetes.io/nfs"]
const annotation = "pv.kubernetes.io/"

const attributes = "NAMESPACE-attributes"

/** Who of several waiting gets a volume is left to chance, so each class has one claim. */
const classes = 2

export const volumes: Family = (random) => {
  const world = new World(random)
  const steps: (() => Step)[] = [
    () => world.createVolume(),
    () => world.createVolume(),
    () => world.createClaim(),
    () => world.createClaim(),
    () => world.createClass(),
    () => world.createPod(),
    () => world.changeVolume(),
    () => world.changeClaim(),
    () => world.delete(),
    () => world.delete(),
    () => ({ deletePods: {}, count: 1 }),
    () => ({ pods: pick(random, ["ready", "succeeded", { exit: 1 }]), ...maybe(random, 0.5, { count: 1 }) }),
    () => world.resize(),
    () => world.resize(),
    () => world.deleteInUse(),
    () => world.createAttributes(),
    () => ({ delete: ["volumeattributesclasses", attributes] }),
  ]
  const begin = [
    ...some(random, 0, 1, () => world.createClass()),
    ...some(random, 1, 3, () => world.createVolume()),
    world.createClaim(),
  ]
  return {
    steps: oneByOne([...begin, ...some(random, 4, 9, () => pick(random, steps)())]).map(refusable),
  }
}

class World {
  readonly #random: Random
  #volumes = 0
  #pods = 0

  constructor(random: Random) {
    this.#random = random
  }

  /** No two of a size. */
  createVolume(): Step {
    const random = this.#random
    const size = 10 * (1 + random(4)) + this.#volumes
    const terms = [{ matchExpressions: [{ key: "kubernetes.io/hostname", operator: "In", values: ["n1"] }] }]
    const kind = pick<object>(random, [
      { nfs: { server: "10.0.0.1", path: "/x" } },
      { local: { path: "/x" }, nodeAffinity: { required: { nodeSelectorTerms: terms } } },
      { csi: { driver: "csi.example.com", volumeHandle: "h" } },
      { awsElasticBlockStore: { volumeID: "v" } },
    ])
    return {
      create: {
        apiVersion: "v1",
        kind: "PersistentVolume",
        metadata: {
          name: `NAMESPACE-v${this.#volumes++}`,
          labels: { of: "NAMESPACE", ...maybe(random, 0.5, { tier: "one" }) },
        },
        spec: {
          capacity: { storage: `${size}Gi` },
          accessModes: this.#modes(),
          storageClassName: this.#class(),
          persistentVolumeReclaimPolicy: pick(random, ["Retain", "Delete"]),
          ...kind,
          ...maybe(random, 0.15, { volumeMode: "Block" }),
          ...maybe(random, 0.1, { volumeAttributesClassName: attributes }),
          ...maybe(random, 0.25, { claimRef: { namespace: "NAMESPACE", name: this.#claim() } }),
        },
      },
    }
  }

  createClaim(): Step {
    const random = this.#random
    const one = random(classes)
    const isOfNone = one === 0 && chance(random, 0.3)
    const tier = maybe(random, 0.15, { tier: "one" })
    // Volumes without a class are for all claims without one, in other namespaces, too.
    const matchLabels = { ...(isOfNone ? { of: "NAMESPACE" } : {}), ...tier }
    return {
      create: {
        apiVersion: "v1",
        kind: "PersistentVolumeClaim",
        metadata: { name: `c${one}` },
        spec: {
          accessModes: [pick(random, askedModes)],
          storageClassName: isOfNone ? "" : `NAMESPACE-${one}`,
          resources: { requests: { storage: `${10 * (1 + random(3))}Gi` } },
          ...maybe(random, 0.15, { volumeMode: "Block" }),
          ...maybe(random, 0.2, { volumeName: this.#volume() }),
          ...maybe(random, 0.1, { volumeAttributesClassName: attributes }),
          ...(Object.keys(matchLabels).length === 0 ? {} : { selector: { matchLabels } }),
        },
      },
    }
  }

  createClass(): Step {
    const random = this.#random
    return {
      create: {
        apiVersion: "storage.k8s.io/v1",
        kind: "StorageClass",
        metadata: { name: `NAMESPACE-${random(classes)}` },
        provisioner: pick(random, provisioners),
        volumeBindingMode: pick(random, ["Immediate", "WaitForFirstConsumer"]),
        ...maybe(random, 0.5, { allowVolumeExpansion: true }),
      },
    }
  }

  createAttributes(): Step {
    return {
      create: {
        apiVersion: "storage.k8s.io/v1",
        kind: "VolumeAttributesClass",
        metadata: { name: attributes },
        driverName: "csi.example.com",
        parameters: { a: "b" },
      },
    }
  }

  createPod(): Step {
    const claims = some(this.#random, 1, 2, () => this.#claim())
    const of = [...new Set(claims)].map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } }))
    // Ours reports a pod without a node immediately, upstream at its next check: the pod has a node from the start or never.
    return user(`p${this.#pods++}`, of, maybe(this.#random, 0.6, { nodeName: "n1" }))
  }

  changeVolume(): Step {
    const random = this.#random
    const fields = pick<object>(random, [
      { spec: { claimRef: null } },
      { spec: { claimRef: { namespace: "NAMESPACE", name: this.#claim(), uid: null } } },
      { spec: { persistentVolumeReclaimPolicy: pick(random, ["Retain", "Delete"]) } },
      { spec: { storageClassName: this.#class() } },
      { metadata: { annotations: { [`${annotation}provisioned-by`]: pick(random, provisioners) } } },
      { metadata: { finalizers: null } },
    ])
    return { patch: ["persistentvolumes", this.#volume()], with: fields }
  }

  changeClaim(): Step {
    const random = this.#random
    const fields = pick<object>(random, [
      { metadata: { annotations: { [`${annotation}bind-completed`]: null } } },
      { metadata: { annotations: { touched: String(random(100)) } } },
      { metadata: { finalizers: null } },
      { metadata: { finalizers: held.finalizers } },
      { metadata: { annotations: { "volume.kubernetes.io/selected-node": pick(random, ["n1", "nobody", null]) } } },
      { spec: { volumeName: this.#volume() } },
      { spec: { volumeAttributesClassName: pick(random, [attributes, null]) } },
    ])
    return { patch: ["persistentvolumeclaims", this.#claim()], with: fields }
  }

  /** Users ask for more, and a resizer reports how far it has come. */
  resize(): Step {
    const random = this.#random
    const storage = pick(random, ["20Gi", "35Gi", "60Gi"])
    const claim: ["persistentvolumeclaims", string] = ["persistentvolumeclaims", this.#claim()]
    const volume: ["persistentvolumes", string] = ["persistentvolumes", this.#volume()]
    const conditions = [{ type: pick(random, ["Resizing", "FileSystemResizePending"]), status: "True" }]
    const ofStatus = pick<object>(random, [
      { conditions },
      { conditions: null },
      { capacity: { storage } },
      { allocatedResources: { storage }, allocatedResourceStatuses: { storage: "ControllerResizeInProgress" } },
      { allocatedResources: null, allocatedResourceStatuses: null },
    ])
    return pick<Step>(random, [
      { patch: claim, with: { spec: { resources: { requests: { storage } } } } },
      { patch: claim, with: { spec: { resources: { requests: { storage } } } } },
      { patch: claim, with: { status: ofStatus }, subresource: "status" },
      { patch: volume, with: { spec: { capacity: { storage } } } },
      {
        patch: ["storageclasses", `NAMESPACE-${random(classes)}`],
        with: { allowVolumeExpansion: chance(random, 0.7) },
      },
    ])
  }

  /** Once more than usual: it may wait for what uses it. */
  deleteInUse(): Step {
    const policy = pick(this.#random, ["Foreground", "Orphan"] as const)
    return { delete: ["persistentvolumeclaims", this.#claim()], policy }
  }

  delete(): Step {
    return this.#random(2) === 0
      ? { delete: ["persistentvolumes", this.#volume()] }
      : { delete: ["persistentvolumeclaims", this.#claim()] }
  }

  #modes(): string[] {
    return rank.slice(0, 1 + this.#random(rank.length))
  }

  #class(): string {
    return pick(this.#random, ["", "NAMESPACE-0", "NAMESPACE-0", "NAMESPACE-1", "NAMESPACE-1"])
  }

  #claim(): string {
    return `c${this.#random(classes)}`
  }

  #volume(): string {
    return `NAMESPACE-v${this.#random(Math.max(1, this.#volumes))}`
  }
}
