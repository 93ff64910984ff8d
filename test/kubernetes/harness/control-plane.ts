// The programs of a real control plane with their flags. test-kubernetes.ts starts them in order.

import path from "node:path"
import { fileURLToPath } from "node:url"
import { binary } from "../build/cache.ts"
import { Component } from "./component.ts"
import type { Credentials } from "./credentials.ts"

export interface Place {
  /** The parent folder of data and logs. */
  folder: string
  credentials: Credentials
  ports: { etcd: number; etcdPeer: number; apiServer: number }
}

export const serviceCidr = "10.96.0.0/16"

const logFile = (place: Place, name: string): string => path.join(place.folder, "logs", `${name}.log`)

async function start(place: Place, name: string, args: readonly string[]): Promise<Component> {
  return Component.start({ name, program: await binary(name), args, logFile: logFile(place, name) })
}

export const etcdData = ({ folder }: Place): string => path.join(folder, "etcd")

/** Without fsync by default: the data does not outlive the test, and a busy disk would slow down every write. */
export function startEtcd(place: Place, durable: boolean): Promise<Component> {
  const client = `http://127.0.0.1:${place.ports.etcd}`
  const peer = `http://127.0.0.1:${place.ports.etcdPeer}`
  return start(place, "etcd", [
    `--data-dir=${etcdData(place)}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
    ...(durable ? [] : ["--unsafe-no-fsync"]),
    "--log-level=warn",
  ])
}

/** Configured as by kubeadm, on loopback. `extra` comes last, so it takes precedence. */
export function startApiServer(place: Place, extra: readonly string[]): Promise<Component> {
  const { file } = place.credentials
  return start(place, "kube-apiserver", [
    `--etcd-servers=http://127.0.0.1:${place.ports.etcd}`,
    "--bind-address=127.0.0.1",
    "--advertise-address=127.0.0.1",
    `--secure-port=${place.ports.apiServer}`,
    // Loopback addresses are not allowed in the endpoints of the service `kubernetes`.
    "--endpoint-reconciler-type=none",
    `--tls-cert-file=${file("apiserver.crt")}`,
    `--tls-private-key-file=${file("apiserver.key")}`,
    `--client-ca-file=${file("ca.crt")}`,
    `--token-auth-file=${file("tokens.csv")}`,
    `--service-account-key-file=${file("service-account.pub")}`,
    `--service-account-signing-key-file=${file("service-account.key")}`,
    "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
    `--service-cluster-ip-range=${serviceCidr}`,
    "--authorization-mode=Node,RBAC",
    "--enable-admission-plugins=NodeRestriction",
    "--allow-privileged",
    "--enable-aggregator-routing",
    `--kubelet-client-certificate=${file("apiserver-kubelet-client.crt")}`,
    `--kubelet-client-key=${file("apiserver-kubelet-client.key")}`,
    `--requestheader-client-ca-file=${file("front-proxy-ca.crt")}`,
    "--requestheader-allowed-names=front-proxy-client",
    "--requestheader-extra-headers-prefix=X-Remote-Extra-",
    "--requestheader-group-headers=X-Remote-Group",
    "--requestheader-username-headers=X-Remote-User",
    `--proxy-client-cert-file=${file("front-proxy-client.crt")}`,
    `--proxy-client-key-file=${file("front-proxy-client.key")}`,
    ...extra,
  ])
}

/** Serves no port, since nothing queries it. */
export function startControllerManager(place: Place, extra: readonly string[]): Promise<Component> {
  const { file } = place.credentials
  const kubeconfig = file("kube-controller-manager.kubeconfig")
  return start(place, "kube-controller-manager", [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    "--leader-elect=false",
    "--secure-port=0",
    "--use-service-account-credentials",
    `--service-account-private-key-file=${file("service-account.key")}`,
    `--root-ca-file=${file("ca.crt")}`,
    `--cluster-signing-cert-file=${file("ca.crt")}`,
    `--cluster-signing-key-file=${file("ca.key")}`,
    ...extra,
  ])
}

export function startScheduler(place: Place): Promise<Component> {
  const kubeconfig = place.credentials.file("kube-scheduler.kubeconfig")
  return start(place, "kube-scheduler", [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    "--leader-elect=false",
    "--secure-port=0",
  ])
}

/** Simulates the kubelets of all nodes. */
export function startKwok(place: Place): Promise<Component> {
  return start(place, "kwok", [
    `--kubeconfig=${place.credentials.file("kwok.kubeconfig")}`,
    `--config=${fileURLToPath(new URL("kwok-stages.yaml", import.meta.url))}`,
    "--manage-all-nodes",
    "--node-lease-duration-seconds=40",
    "--server-address=",
  ])
}
