// The folders and addresses of clusters of real nodes. Several clusters can run on one machine; each has a number, which
// determines a small network between the machine and its nodes. The ranges within that network (pods, services) are the same for
// all, since clusters cannot reach each other.

import { homedir } from "node:os"
import path from "node:path"
import { fileURLToPath } from "node:url"

export const kubernetesVersion = "v1.36.3"

export const cacheDirectory = process.env["POLYPLANE_CACHE"] ?? path.join(homedir(), ".cache", "polyplane")
const versionDirectory = path.join(cacheDirectory, "kubernetes", kubernetesVersion)
export const binDirectory = path.join(versionDirectory, "bin")

/** The results of `kubernetes:build images`. */
export const images = {
  /** An OCI layout with all images, for the registry. */
  layout: path.join(versionDirectory, "node-images", "layout"),
  /** The same images unpacked as a containerd root, of which nodes start with a copy. */
  root: path.join(versionDirectory, "node-images", "containerd"),
  /** Identifies the inputs of both. */
  stamp: path.join(versionDirectory, "node-images", "stamp"),
  work: path.join(versionDirectory, "node-images", "work"),
}

/** One folder per running cluster. It must be on the same disk as the images, so that nodes can link to them. */
export const clustersDirectory = path.join(cacheDirectory, "clusters")

/** The path of a file in this folder. */
export const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

export const ranges = {
  pods: "10.244.0.0/16",
  services: "10.96.0.0/16",
  /** The first service address: default/kubernetes. */
  kubernetes: "10.96.0.1",
  dns: "10.96.0.10",
}

export const clusterDomain = "cluster.local"
/** Maximum number of clusters on one machine: one third octet each. */
export const maxClusters = 16
export const maxNodes = 9
export const registryPort = 5000
export const apiPort = 6443

export interface Network {
  /** The machine's device for reaching the nodes. Creating it claims the number. */
  link: string
  /** The address at which nodes and (masqueraded) their pods reach this machine. */
  host: string
  registry: string
  node(number: number): string
}

export function networkOf(cluster: number): Network {
  const prefix = `10.199.${cluster}`
  return {
    link: `polyplane${cluster}`,
    host: `${prefix}.1`,
    registry: `${prefix}.2`,
    node: (number) => `${prefix}.${10 + number}`,
  }
}

export const nodeName = (number: number): string => `node${number}`
export const podRange = (number: number): string => `10.244.${number}.0/24`
